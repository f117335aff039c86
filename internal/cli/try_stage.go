package cli

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

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/budget"
	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/outfile"
	"github.com/highwater-go/highwater/internal/procfs"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/trial"
	"github.com/highwater-go/highwater/internal/units"
)

// defaultTimeout is when a run is lost, where nothing else is said.
const defaultTimeout = 10 * time.Minute

// trialFlags are how try and fit run a program, as given.
type trialFlags struct {
	load, ready, prepare, output               string
	readyFor, runFor, grace, timeout, patience time.Duration
	keepAll                                    bool
	ask                                        askFlags
	expect                                     expectFlag
	keepArgs                                   keepArgs
}

func addTrial(f *trialFlags, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.load, "load", "", "run this shell `command` meanwhile, and stop the program when it ends; a run fails if the load fails, or outlives the program")
	flags.StringVar(&f.ready, "ready", "", "wait for this `port` or URL to answer before the load starts")
	flags.DurationVar(&f.readyFor, "ready-timeout", time.Minute, "maximum time to wait for --ready")
	flags.StringVar(&f.prepare, "prepare", "", "run this shell `command` before each run, outside of its limit")
	flags.DurationVar(&f.runFor, "for", 0, "stop the program after this time; its run is then complete")
	flags.DurationVar(&f.timeout, "timeout", defaultTimeout, "stop a run after this time; it then counts as lost")
	flags.DurationVar(&f.patience, "patience", trial.Patience, "stop a run that has made no progress for this time; it then counts as livelocked")
	flags.DurationVar(&f.grace, "grace", 5*time.Second, "time from SIGTERM to SIGKILL when a program is stopped")
	flags.StringVarP(&f.output, "output", "o", "", "new `folder` for the recordings (default: one in the state directory)")
	flags.BoolVar(&f.keepAll, "keep-all", false, "keep the recordings of all runs (default: typical, worst and lost ones)")
	flags.StringVar(&f.ask.probe, "probe", "", "time requests to this `URL`: http://..., or redis://host:port")
	flags.Float64Var(&f.ask.probeRate, "probe-rate", 20, "requests per second of --probe")
	addExpect(&f.expect, c)
	addKeepArgs(&f.keepArgs, c)
}

// flagsFor are the flags of a run that does the same.
func (f trialFlags) flagsFor(limit, recording string) runFlags {
	return runFlags{limit: limit, load: f.load, ready: f.ready, output: recording, readyFor: f.readyFor, runFor: f.runFor,
		grace: f.grace, rate: 10, ask: f.ask, expect: f.expect, keepArgs: f.keepArgs}
}

// stage is where runs of a trial take place, one after the other.
type stage struct {
	trialFlags
	folder string
	status *status
	busy   busyMeter
}

// stage makes the folder: the one asked for, or a new one of that name.
func (f trialFlags) stage(name string) (*stage, error) {
	if f.timeout <= 0 || f.patience <= 0 || f.grace < 0 {
		return nil, usagef("--timeout 10m --patience 30s", "--timeout and --patience must be more than nothing")
	}
	folder, err := trialFolder(f.output, name)
	if err != nil {
		return nil, err
	}
	return &stage{trialFlags: f, folder: folder}, nil
}

func trialFolder(asked, name string) (string, error) {
	if asked != "" {
		if left, err := os.ReadDir(asked); err == nil && len(left) > 0 {
			return "", usagef("choose another folder, or empty it first", "%s holds something already; a recording is never overwritten", asked)
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
func logOf(recording string) string { return strings.TrimSuffix(recording, suffix) + ".log" }

// one makes a run, as highwater run would, and measures it.
func (st *stage) one(ctx context.Context, sc scene) (trial.Run, error) {
	if err := st.busy.pause(ctx); err != nil {
		return trial.Run{}, errInterrupted
	}
	path := filepath.Join(st.folder, sc.file+suffix)
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
	p, err := st.flagsFor(sc.limit, path).plan(sc.args())
	if err != nil {
		return trial.Run{}, err
	}
	p.env, p.dir = append(append([]string{}, sc.command.Env...), sc.env...), sc.dir
	p.timeout, p.endWithUs = st.timeout, true
	p.more = map[string]string{"variant": sc.Name}
	a, err := st.see(ctx, p, newStreams(nothing, log, log))
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
	if st.prepare == "" {
		return nil
	}
	code, output, err := runShell(ctx, shell{command: st.prepare, leaves: true}, log)
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case err != nil:
		return err
	case code != 0:
		return &exitError{code: exitFailed, err: fmt.Errorf("--prepare ended with code %d: %s", code, strings.TrimSpace(output))}
	}
	return nil
}

// see runs the program to its end, or until it is out of time, livelocked or
// interrupted.
func (st *stage) see(ctx context.Context, p *plan, s *streams) (*explain.Answer, error) {
	r := p.session(s)
	// What ends the run must not end what watches it to its end.
	stalled, stall := context.WithCancel(context.WithoutCancel(ctx))
	defer stall()
	r.ends = []ending{{stalled.Done(), sample.SignalStalled}, {ctx.Done(), sample.SignalForwarded}}
	progress := trial.Progress{Patience: st.patience}
	var answered atomic.Int64 // of the probe's goroutines
	r.asking.onAnswered = func(at time.Time) { answered.Store(at.UnixNano()) }
	st.status.about(strings.TrimSuffix(filepath.Base(p.recording), suffix))
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
	return trial.Setup{Program: program, Limit: sample.Bytes(n), Expect: string(st.expect), Load: procfs.RedactShell(st.load), Compare: compare,
		Machine: trial.Machine{CPUs: runtime.NumCPU(), Kernel: readLine("/proc/sys/kernel/osrelease"), Busy: st.busy.share()}}
}
