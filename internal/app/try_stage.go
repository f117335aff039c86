package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/measure/budget"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// DefaultTimeout is when a run is lost, where nothing else is said.
const DefaultTimeout = 10 * time.Minute

// TrialFlags are how try and fit run a program, as given.
type TrialFlags struct {
	Load, Ready, Prepare, Output               string
	ReadyFor, RunFor, Grace, Timeout, Patience time.Duration
	KeepAll                                    bool
	Ask                                        AskFlags
	Expect                                     ExpectFlag
	KeepArgs                                   KeepArgs
}

// flagsFor are the flags of a run that does the same.
func (f TrialFlags) flagsFor(limit, recording string) RunFlags {
	return RunFlags{Limit: limit, Load: f.Load, Ready: f.Ready, Output: recording, ReadyFor: f.ReadyFor, RunFor: f.RunFor,
		Grace: f.Grace, Rate: 10, Ask: f.Ask, Expect: f.Expect, KeepArgs: f.KeepArgs}
}

// stage is where runs of a trial take place, one after the other.
type stage struct {
	TrialFlags
	folder string
	status *status
	busy   busyMeter
}

// stage makes the folder: the one asked for, or a new one of that name.
func (f TrialFlags) stage(name string) (*stage, error) {
	if f.Timeout <= 0 || f.Patience <= 0 || f.Grace < 0 {
		return nil, Usagef("--timeout 10m --patience 30s", "--timeout and --patience must be more than nothing")
	}
	folder, err := trialFolder(f.Output, name)
	if err != nil {
		return nil, err
	}
	return &stage{TrialFlags: f, folder: folder}, nil
}

func trialFolder(asked, name string) (string, error) {
	if asked != "" {
		if left, err := os.ReadDir(asked); err == nil && len(left) > 0 {
			return "", Usagef("choose another folder, or empty it first", "%s holds something already; a recording is never overwritten", asked)
		}
		return asked, os.MkdirAll(asked, 0o700)
	}
	dir, err := makeStateDir()
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		folder := filepath.Join(dir, fmt.Sprintf("%s-%d", name, n))
		if err := os.Mkdir(folder, 0o700); !errors.Is(err, fs.ErrExist) {
			return folder, err
		}
	}
}

// scene is one run that is to be made.
type scene struct {
	variant
	file  string // of the recording, in the folder, without its suffix
	limit string // "": none
	env   []string
}

// logOf is the file beside a recording that has the program's, the load's and
// highwater's output.
func logOf(recording string) string { return strings.TrimSuffix(recording, Suffix) + ".log" }

// one makes a run, as highwater run would, and measures it.
func (st *stage) one(ctx context.Context, sc scene) (trial.Run, error) {
	if err := st.busy.pause(ctx); err != nil {
		return trial.Run{}, errInterrupted
	}
	path := filepath.Join(st.folder, sc.file+Suffix)
	log, err := outfile.New(logOf(path))
	if err != nil {
		return trial.Run{}, err
	}
	defer log.Close()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return trial.Run{}, err
	}
	defer nothing.Close()
	if err := st.prepared(ctx, log); err != nil {
		return trial.Run{}, err
	}
	p, err := st.flagsFor(sc.limit, path).Plan(sc.args())
	if err != nil {
		return trial.Run{}, err
	}
	p.env, p.dir = append(append([]string{}, sc.command.Env...), sc.env...), sc.dir
	p.timeout, p.endWithUs = st.Timeout, true
	p.more = map[string]string{"variant": sc.Name}
	a, err := st.see(ctx, p, NewStreams(nothing, log, log))
	if err != nil {
		return trial.Run{}, err
	}
	if ctx.Err() != nil {
		return trial.Run{}, errInterrupted
	}
	return measured(path, a)
}

// args are the command's; a program that is named by a relative path lies in the
// variant's folder.
func (sc scene) args() []string {
	args := append([]string{}, sc.command.Args...)
	if sc.dir != "" && strings.ContainsRune(args[0], filepath.Separator) && !filepath.IsAbs(args[0]) {
		args[0] = filepath.Join(sc.dir, args[0])
	}
	return args
}

// prepared runs --prepare.
func (st *stage) prepared(ctx context.Context, log *os.File) error {
	if st.Prepare == "" {
		return nil
	}
	code, output, err := runShell(ctx, shell{command: st.Prepare, leaves: true}, log)
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case err != nil:
		return err
	case code != 0:
		return &ExitError{Code: ExitFailed, Err: fmt.Errorf("--prepare ended with code %d: %s", code, strings.TrimSpace(output))}
	}
	return nil
}

// see runs the program to its end, or until it is out of time, livelocked or
// interrupted.
func (st *stage) see(ctx context.Context, p *plan, s *Streams) (*explain.Answer, error) {
	r := p.session(s)
	// What ends the run must not end what watches it to its end.
	stalled, stall := context.WithCancel(context.WithoutCancel(ctx))
	defer stall()
	r.ends = []ending{{stalled.Done(), sample.SignalStalled}, {ctx.Done(), sample.SignalForwarded}}
	progress := trial.Progress{Patience: st.Patience}
	var answered atomic.Int64 // of the probe's goroutines
	r.probing.onAnswered = func(at time.Time) { answered.Store(at.UnixNano()) }
	st.status.about(strings.TrimSuffix(filepath.Base(p.recording), Suffix))
	defer st.status.end()
	r.onPoint = func(point *sample.Point) {
		st.status.point(r, point)
		if n := answered.Load(); n > 0 {
			progress.Answered(time.Unix(0, n))
		}
		if progress.Stalled(point) {
			stall()
		}
	}
	if _, err := r.record(context.WithoutCancel(ctx), s); err != nil {
		return nil, err
	}
	return r.conclude(s), nil
}

// measured reads what a run needed, and holds it against what was expected.
func measured(path string, a *explain.Answer) (trial.Run, error) {
	r, err := recording.Open(path)
	if err != nil {
		return trial.Run{}, recordingError(err)
	}
	defer r.Close()
	run, err := trial.Measure(r, explain.RequestsIn)
	run.Recording = filepath.Base(path)
	if run.Ended == trial.Finished && a != nil && a.Expected != nil && a.Expected.Kept == budget.Failed {
		run.Ended, run.Why = trial.OverBudget, a.Expected.Sentence
	}
	return run, err
}

// setup says how all runs were made.
func (st *stage) setup(program, limit string, compare bool) trial.Setup {
	n, _ := units.ParseSize(limit) // read before
	return trial.Setup{Program: program, Limit: sample.Bytes(n), Expect: string(st.Expect), Load: procfs.RedactShell(st.Load), Compare: compare,
		Machine: trial.Machine{CPUs: runtime.NumCPU(), Kernel: readLine("/proc/sys/kernel/osrelease"), Busy: st.busy.share()}}
}
