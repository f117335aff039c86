package cli

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

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/outfile"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
)

// minLimit is the smallest limit a Go program can start under: below it the
// kernel kills it before main, which tells nobody anything.
const minLimit = 4 << 20

// runFlags are run's flags as given.
type runFlags struct {
	limit, load, ready, output, profileRate string
	exitCode                                string
	readyFor, runFor, grace                 time.Duration
	rate                                    int
	noHeapProfile, followForks, quiet, json bool
	leaveChildren                           bool
	ask                                     askFlags
	expect                                  expectFlag
	heap                                    heapWishFlag
	keepArgs                                keepArgs
	native                                  nativeFlag
}

func runCommand(s *streams) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [flags] -- PROGRAM [ARGS...]",
		Short: "Run a program, record its memory, and explain it",
		Long: `Runs a program unchanged, in a memory cgroup of its own, and observes it and its
children from outside. Highwater loads nothing into the program. When the program
dies, highwater reads its memory before the kernel frees it.

Standard output has the answer, standard error the progress. The exit code is the
program's own (128+n for signal n). It is 0 where --for or --load ended the program,
and 1 where the load failed; --exit-code program passes the program's code on then, too.`,
		Example: `  highwater run -- ./server
  highwater run --limit 256MiB --load './load.sh' --ready 8080 -- ./server -addr :8080
  highwater run --metrics :8080 --probe http://127.0.0.1:8080/ \
    --load './load.sh' --ready 8080 -- ./server
  highwater run --limit 1GiB --for 10m -o night.hwm -- sh -c './migrate && ./server'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("highwater run --limit 256MiB -- ./server -flag", "run needs a program")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			p, err := f.plan(args)
			if err != nil {
				return err
			}
			return p.run(c.Context(), s)
		},
	}
	flags := c.Flags()
	flags.SetInterspersed(false)
	flags.StringVar(&f.limit, "limit", "", "memory limit of the program and its children, without swap, as a `size`: 256MiB; units are binary, 1GB is 1GiB")
	flags.StringVar(&f.load, "load", "", "run this shell `command` meanwhile, and stop the program when it ends")
	flags.StringVar(&f.ready, "ready", "", "wait for this `port` or URL to answer before the load starts")
	flags.DurationVar(&f.readyFor, "ready-timeout", time.Minute, "maximum time to wait for --ready")
	flags.DurationVar(&f.runFor, "for", 0, "stop the program after this time")
	flags.DurationVar(&f.grace, "grace", 10*time.Second, "time from SIGTERM to SIGKILL when the program is stopped")
	flags.StringVarP(&f.output, "output", "o", "", "recording to write (default: a new one in the state directory)")
	flags.IntVar(&f.rate, "rate", 10, "samples per second while memory moves (1 at rest, up to 1000 near the limit)")
	flags.BoolVar(&f.noHeapProfile, "no-heap-profile", false, "leave heap profiling disabled where the linker disabled it")
	flags.StringVar(&f.profileRate, "profile-rate", "", "set the sampling rate of the heap profile in `bytes` (1: every allocation)")
	flags.BoolVar(&f.followForks, "follow-forks", false, "trace everything that a busy Go program starts from its first instruction, for its heap profile (costs some CPU)")
	flags.BoolVar(&f.leaveChildren, "leave-children", false, "leave what the program starts to the program, untraced: for a debugger that is not recognized as one")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print neither progress nor the answer")
	flags.BoolVar(&f.json, "json", false, "print the answer as JSON; the program's standard output goes to standard error")
	flags.StringVar(&f.exitCode, "exit-code", exitCodeOfRun, "`whose` code to exit with where --for or --load ended the program: highwater (0) or program (143)")
	f.ask.add(c)
	f.expect.add(c)
	f.heap.add(c, true)
	f.keepArgs.add(c)
	f.native.add(c)
	return c
}

// Whose exit code run ends with where it ended the program itself.
const (
	exitCodeOfRun     = "highwater"
	exitCodeOfProgram = "program"
)

// plan is a run that is possible as far as flags can tell.
type plan struct {
	runFlags
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
	heaps       heapWish
	recording   string
	notThere    error // why it does not go where recordings go
	inMemory    bool  // it is kept in memory, and goes with the container
}

func (f runFlags) plan(args []string) (*plan, error) {
	p := &plan{runFlags: f, args: args}
	var err error
	if p.program, err = findProgram(args[0]); err != nil {
		return nil, err
	}
	if f.limit != "" {
		if p.limitBytes, err = units.ParseSize(f.limit); err != nil {
			return nil, usagef("--limit 256MiB", "--limit: %w", err)
		}
		if p.limitBytes < minLimit {
			return nil, usagef("choose at least "+units.Limit(uint64(minLimit)), "--limit %s is too small for any Go program to start", f.limit)
		}
	}
	if f.profileRate != "" {
		n, err := units.ParseSize(f.profileRate)
		if err != nil || n == 0 {
			return nil, usagef("--profile-rate 1 samples every allocation, 512KiB is Go's default", "--profile-rate %q is not a number of bytes", f.profileRate)
		}
		p.profileRate = int64(n)
	}
	if f.rate < 1 || f.rate > 1000 {
		return nil, usagef("--rate 10", "--rate %d is not between 1 and 1000 samples a second", f.rate)
	}
	if f.exitCode != "" && f.exitCode != exitCodeOfRun && f.exitCode != exitCodeOfProgram {
		return nil, usagef("--exit-code "+exitCodeOfProgram, "--exit-code %q is neither highwater nor program", f.exitCode)
	}
	if f.ready != "" && f.load == "" {
		return nil, usagef("add --load CMD", "--ready has nothing to start")
	}
	if p.readiness, err = parseReady(f.ready); err != nil {
		return nil, err
	}
	if p.asks, err = f.ask.plan(); err != nil {
		return nil, err
	}
	if _, err = f.expect.budget(); err != nil {
		return nil, err
	}
	if err = f.native.check(); err != nil {
		return nil, err
	}
	if p.heaps, err = f.heap.plan(); err != nil {
		return nil, err
	}
	return p, p.chooseRecording()
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
	if filepath.Ext(output) != suffix {
		output += suffix
	}
	if _, err := os.Lstat(output); err == nil {
		return "", usagef("choose another name, or remove it first", "%s exists; a recording is never overwritten", output)
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
		return usagef("name a new file: -o NAME"+suffix, "%s is %s; a recording is a database and needs a file of its own", output, kind)
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
		return "", usagef("write "+visible.Shell("./"+name), "%s is in this directory, which is not searched", name)
	case errors.Is(err, syscall.EISDIR):
		return "", usagef("name the executable in it", "%s is a directory", name)
	case errors.Is(err, fs.ErrPermission):
		return "", usagef("chmod +x "+visible.Shell(name), "%s is not executable", name)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", usagef("after -- comes the program and its arguments, as in a shell", "there is no program %q", name)
	}
	return "", usagef("highwater doctor "+visible.Shell(name)+" says what it is", "%s cannot be run: %w", name, err)
}

// loadOutput is where the load writes: with the progress, unless quiet.
func (p *plan) loadOutput(s *streams) io.Writer {
	if p.quiet {
		return io.Discard
	}
	return s.err
}

// programOutput is the program's standard output: ours, unless that is for JSON alone.
func (p *plan) programOutput(s *streams) io.Writer {
	if p.json {
		return s.err
	}
	return s.out
}

// cannotRun is why the kernel refused an executable file, in a user's words.
func cannotRun(name string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return usagef("highwater doctor "+visible.Shell(name)+" says what it is; a script begins with a line like #!/bin/sh", "%s is not a program that this machine can run", name)
	case errors.Is(err, syscall.EPERM):
		return &exitError{code: exitNotPermitted, err: fmt.Errorf("%s cannot be followed: %w", name, err),
			hint: "a process has one tracer; a debugger, or another highwater around this one, may be it"}
	case errors.Is(err, fs.ErrNotExist):
		return usagef("a script names it in its first line, an executable in its header", "the interpreter that %s names does not exist", name)
	}
	return err
}

func notPermitted(hint string, err error) error {
	return &exitError{code: exitNotPermitted, err: fmt.Errorf("a memory limit cannot be set here: %w", err), hint: hint}
}
