package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// minLimit is the smallest limit a Go program can start under: below it the
// kernel kills it before main, which tells nobody anything.
const minLimit = 4 << 20

// RunFlags are run's flags as given.
type RunFlags struct {
	Limit, Load, Ready, Output, ProfileRate string
	ExitCode                                string
	ReadyFor, RunFor, Grace                 time.Duration
	Rate                                    int
	NoHeapProfile, FollowForks, Quiet, JSON bool
	LeaveChildren                           bool
	Ask                                     AskFlags
	Expect                                  ExpectFlag
	Heap                                    HeapPolicyFlag
	KeepArgs                                KeepArgs
	Native                                  NativeFlag
}

// Whose exit code run ends with where it ended the program itself.
const (
	ExitCodeOfRun     = "highwater"
	exitCodeOfProgram = "program"
)

// plan is a run that is possible as far as flags can tell.
type plan struct {
	RunFlags
	program     string // path
	args        []string
	env         []string          // beside our own
	dir         string            // to run in; "": ours
	more        map[string]string // further rows of the recording's meta
	timeout     time.Duration     // after which the run is lost; 0: none
	endWithUs   bool              // the program is ended when we are killed
	limitBytes  uint64            // 0: none
	profileRate int64             // 0: leave it
	readiness   readiness
	asks        asks
	heaps       HeapPolicy
	recording   string
	notThere    error // why it does not go where recordings go
	inMemory    bool  // it is kept in memory, and goes with the container
}

func (f RunFlags) Plan(args []string) (*plan, error) {
	p := &plan{RunFlags: f, args: args}
	var err error
	if p.program, err = findProgram(args[0]); err != nil {
		return nil, err
	}
	if p.limitBytes, err = limitOf(f.Limit); err != nil {
		return nil, err
	}
	if p.profileRate, err = profileRateOf(f.ProfileRate); err != nil {
		return nil, err
	}
	if err = checkRate(f.Rate); err != nil {
		return nil, err
	}
	if f.ExitCode != "" && f.ExitCode != ExitCodeOfRun && f.ExitCode != exitCodeOfProgram {
		return nil, Usagef("--exit-code "+exitCodeOfProgram, "--exit-code %q is neither highwater nor program", f.ExitCode)
	}
	if f.Ready != "" && f.Load == "" {
		return nil, Usagef("add --load CMD", "--ready has nothing to start")
	}
	if p.readiness, err = parseReady(f.Ready); err != nil {
		return nil, err
	}
	if p.asks, err = f.Ask.plan(); err != nil {
		return nil, err
	}
	if _, err = f.Expect.Budget(); err != nil {
		return nil, err
	}
	if err = f.Native.check(); err != nil {
		return nil, err
	}
	if p.heaps, err = f.Heap.plan(); err != nil {
		return nil, err
	}
	return p, p.chooseRecording()
}

// limitOf reads --limit, in bytes; 0: none.
func limitOf(flag string) (uint64, error) {
	if flag == "" {
		return 0, nil
	}
	n, err := units.ParseSize(flag)
	if err != nil {
		return 0, Usagef("--limit 256MiB", "--limit: %w", err)
	}
	if n < minLimit {
		return 0, Usagef("choose at least "+units.Limit(uint64(minLimit)), "--limit %s is too small for any Go program to start", flag)
	}
	return n, nil
}

// profileRateOf reads --profile-rate, in bytes; 0: the program's own.
func profileRateOf(flag string) (int64, error) {
	if flag == "" {
		return 0, nil
	}
	n, err := units.ParseSize(flag)
	if err != nil || n == 0 {
		return 0, Usagef("--profile-rate 1 samples every allocation, 512KiB is Go's default", "--profile-rate %q is not a number of bytes", flag)
	}
	return int64(n), nil
}

// checkRate refuses samples a second that are not taken.
func checkRate(rate int) error {
	if rate < 1 || rate > 1000 {
		return Usagef("--rate 10", "--rate %d is not between 1 and 1000 samples a second", rate)
	}
	return nil
}

// chooseRecording sets where the recording goes.
func (p *plan) chooseRecording() (err error) {
	p.recording, err = recordingPath(p.freeOutput(), filepath.Base(p.args[0]))
	if err != nil && p.mustStart() {
		p.notThere = err
		return nil
	}
	return err
}

// recordingPath is where the recording of a program goes: the file asked for, or
// a new one in the state directory.
func recordingPath(output, program string) (string, error) {
	if output == "" {
		return newRecordingPath(program)
	}
	if err := aFileOfItsOwn(output); err != nil {
		return "", err
	}
	if filepath.Ext(output) != Suffix {
		output += Suffix
	}
	if _, err := os.Lstat(output); err == nil {
		return "", Usagef("choose another name, or remove it first", "%s exists; a recording is never overwritten", output)
	}
	return output, nil
}

// aFileOfItsOwn refuses what cannot be a database.
func aFileOfItsOwn(output string) error {
	kind := outfile.Kind(output)
	if output == "-" {
		kind = "standard output"
	}
	if kind != "" {
		return Usagef("name a new file: -o NAME"+Suffix, "%s is %s; a recording is a database and needs a file of its own", output, kind)
	}
	return nil
}

// findProgram is the executable's path, or what is wrong with it in a user's
// words.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, exec.ErrDot):
		return "", Usagef("write "+visible.Shell("./"+name), "%s is in this directory, which is not searched", name)
	case errors.Is(err, syscall.EISDIR):
		return "", Usagef("name the executable in it", "%s is a directory", name)
	case errors.Is(err, fs.ErrPermission):
		return "", Usagef("chmod +x "+visible.Shell(name), "%s is not executable", name)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", Usagef("after -- comes the program and its arguments, as in a shell", "there is no program %q", name)
	}
	return "", Usagef("highwater doctor "+visible.Shell(name)+" says what it is", "%s cannot be run: %w", name, err)
}

// loadOutput is where the load writes: with the progress, unless quiet.
func (p *plan) loadOutput(s *Streams) io.Writer {
	if p.Quiet {
		return io.Discard
	}
	return s.Err
}

// programOutput is the program's standard output: ours, unless that is for JSON alone.
func (p *plan) programOutput(s *Streams) io.Writer {
	if p.JSON {
		return s.Err
	}
	return s.Out
}

// cannotRun is why the kernel refused an executable file, in a user's words.
func cannotRun(name string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return Usagef("highwater doctor "+visible.Shell(name)+" says what it is; a script begins with a line like #!/bin/sh",
			"%s is not a program that this machine can run", name)
	case errors.Is(err, syscall.EPERM):
		return &ExitError{Code: exitNotPermitted, Err: fmt.Errorf("%s cannot be followed: %w", name, err),
			Hint: "a process has one tracer; a debugger, or another highwater around this one, may be it"}
	case errors.Is(err, fs.ErrNotExist):
		return Usagef("a script names it in its first line, an executable in its header", "the interpreter that %s names does not exist", name)
	}
	return err
}

func notPermitted(hint string, err error) error {
	return &ExitError{Code: exitNotPermitted, Err: fmt.Errorf("a memory limit cannot be set here: %w", err), Hint: hint}
}
