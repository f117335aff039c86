package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/gomem"
	"github.com/highwater-go/highwater/internal/heapgraph"
	"github.com/highwater-go/highwater/internal/lastbreath"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/watch"
)

// heapFlags are heap's flags as given.
type heapFlags struct {
	maxStop         time.Duration
	noStop, json    bool
	strings         bool
	maxMemory, path string
	typ, exe        string
	at, since       string
	bound           bound // of time, for a recording
}

func heapCommand(s *streams) *cobra.Command {
	var f heapFlags
	c := &cobra.Command{
		Use:   "heap PID|CORE|RECORDING",
		Short: "Show what retains the heap of a process, a core or a recording",
		Long: `Finds every object of a Go heap, what is reachable, and what retains how much of it: by
variable and field, by goroutine and stack frame, with the allocating lines where the
program has a heap profile.

Highwater pauses a running program while it copies pointers, about 0.15 s for a heap of
1 GiB, and analyzes the copy afterwards. --max-stop bounds the pause; if the copy does not
fit, nothing is captured. With --no-stop the program is not paused: objects that move
meanwhile may count twice or not at all. If highwater dies, the program keeps running.

The retained size of an object is what would be garbage without it. What several places
retain together is listed under "several places". A RECORDING shows the moments at which
run or watch captured the heap (--heap).

Types need no DWARF: large objects, interfaces and closures carry theirs, and highwater
infers the rest. Names of variables need a symbol table; a stripped program's variables
are shown by address.`,
		Example: `  highwater heap 4711
  highwater heap 4711 --max-stop 50ms --json
  highwater heap core.4711 --exe ./server
  highwater heap 4711 --path 0xc000123400
  highwater heap server-3 --at kill
  highwater heap server-3 --since first`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), s, args[0]) },
	}
	f.addReading(c)
	f.bound.addTime(c)
	f.bound.live = s.live
	c.ValidArgsFunction = completeProcess
	flags := c.Flags()
	flags.StringVar(&f.typ, "type", "", "list what retains the objects of this `type`")
	flags.StringVar(&f.path, "path", "", "print the shortest path from a root to the object at this `address`")
	flags.StringVar(&f.at, "at", "", "of a recording: show the heap captured at this `moment`: kill, peak, last, a time since the start or of the clock")
	flags.StringVar(&f.since, "since", "", "of a recording: show what grew since the capture at this `moment` (first, or as for --at), up to --at or the last")
	completeFlag(c, "at", completeMoment)
	completeFlag(c, "since", completeMoment)
	flags.BoolVar(&f.strings, "strings", false, "of a process or a core: count the strings that are copies of others (highwater compares contents, and keeps none)")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	return c
}

// addReading adds the flags that say how a heap is read.
func (f *heapFlags) addReading(c *cobra.Command) {
	flags := c.Flags()
	flags.DurationVar(&f.maxStop, "max-stop", 200*time.Millisecond, "of a process: pause it for at most this `time`")
	flags.BoolVar(&f.noStop, "no-stop", false, "of a process: do not pause it; the figures are then not of one instant")
	flags.StringVar(&f.maxMemory, "max-memory", "", "use at most this `size` of memory for the analysis (default: three quarters of what is free)")
	flags.StringVar(&f.exe, "exe", "", "with a core file: `path` of the executable that wrote it")
}

func (f heapFlags) run(ctx context.Context, s *streams, arg string) error {
	recorded, err := f.recordingOf(arg)
	switch {
	case err != nil:
		return err
	case f.strings && (f.path != "" || f.typ != ""):
		return usagef("highwater heap 4711 --strings", "--strings goes with neither --type nor --path")
	case f.strings && recorded != "":
		return usagef("highwater heap 4711 --strings", "--strings needs a process or a core: a recording has no contents")
	case recorded != "":
		return f.within("heap", func() error { return f.fromRecording(s, recorded) })
	}
	return f.withinMemory("heap", func() error { return f.ofMemory(ctx, s, arg) })
}

// ofMemory reads a process or a core.
func (f heapFlags) ofMemory(ctx context.Context, s *streams, arg string) error {
	target, err := f.open(arg)
	if err != nil {
		return err
	}
	defer target.close()
	copied, a, err := f.analyze(ctx, target)
	if err != nil {
		return err
	}
	switch {
	case f.path != "":
		return f.printPath(s, a)
	case f.typ != "":
		return f.printType(s, a)
	}
	c, err := copied.summarize(ctx, a)
	if err != nil {
		return err
	}
	ans := heapAnswerOf(target.name, c)
	ans.Frames = (*stackFrames)(&a.Objects.Frames)
	if f.strings {
		compared, err := a.Strings(ctx)
		if err != nil {
			return err
		}
		ans.compared(compared)
	}
	return f.print(s, ans)
}

// besideHeap is what reading a process or a core takes beside its heap: the tables of
// its executable, and ours.
const besideHeap = 192 * sample.MiB

// withinMemory bounds the whole of it: the analysis keeps to its own limit, and what is
// read of a foreign executable before and after it has bounds that might be forgotten.
func (f heapFlags) withinMemory(what string, do func() error) error {
	limit, err := f.memory()
	if err != nil {
		return err
	}
	return (&watchman{what: what, most: limit + besideHeap, lenient: true, live: f.bound.live}).run(do)
}

// within bounds the reading of a recording.
func (f heapFlags) within(what string, do func() error) error {
	return (&bound{f.maxMemory, f.bound.time, f.bound.live}).within(what, do)
}

// analyze copies the heap of a target and finds who holds what.
func (f heapFlags) analyze(ctx context.Context, target *heapTarget) (*heapCopy, *heapgraph.Analysis, error) {
	limit, err := f.memory()
	if err != nil {
		return nil, nil, err
	}
	// Until the copy is made there is hardly any garbage. What is live then is large and
	// grows in steps: a collection more costs less than twice the memory.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	copied, err := f.copy(ctx, target, limit)
	if err != nil {
		return nil, nil, err
	}
	copied.readProfile()
	debug.SetGCPercent(25)
	a, err := copied.analyze(ctx)
	return copied, a, err
}

// print prints the answer in the form asked for.
func (f heapFlags) print(s *streams, ans *heapAnswer) error {
	if f.json {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(ans)
	}
	return ans.print(s.out)
}

// memory is how much the analysis may take.
func (f heapFlags) memory() (sample.Bytes, error) {
	if f.maxMemory != "" {
		n, err := units.ParseSize(f.maxMemory)
		if err != nil {
			return 0, usagef("--max-memory 2GiB", "--max-memory: %w", err)
		}
		return sample.Bytes(n), nil
	}
	return ownLimit(), nil
}

// copy copies the heap, with the process stopped if it is one that runs.
func (f heapFlags) copy(ctx context.Context, t *heapTarget, limit sample.Bytes) (*heapCopy, error) {
	c := &heapCopy{heapTarget: t, reason: sample.HeapAsked, threads: t.threads, limit: limit, strings: f.strings}
	if t.pid == 0 || f.noStop {
		if t.pid != 0 {
			c.gap("one instant", errors.New("the program was not stopped: what moved while it was read may count twice or not at all"))
		}
		err := c.take(ctx, limit)
		if err == nil && t.pid != 0 {
			c.copied.Moved()
		}
		return c, tooLarge(err)
	}
	if err := c.ready(limit); err != nil {
		return nil, tooLarge(err)
	}
	stood, err := lastbreath.WhileFrozen(t.pid, f.maxStop, func(ctx context.Context, z *lastbreath.Freeze) error {
		c.standing(z)
		return c.take(ctx, limit)
	})
	c.stopped = stood
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, lastbreath.ErrFreeze):
		return nil, &exitError{code: exitInconclusive, err: fmt.Errorf("%s is too large to copy in a pause of %v: nothing was captured, and the program keeps running", t.name, f.maxStop),
			hint: fmt.Sprintf("highwater heap %d --max-stop %v, or --no-stop", t.pid, max(5*f.maxStop, time.Second))}
	case errors.Is(err, os.ErrPermission):
		return nil, &exitError{code: exitNotPermitted, err: watch.WhyUntraced("/proc", t.pid, err), hint: "highwater heap --no-stop needs no tracing; highwater doctor says what is allowed here"}
	}
	return c, tooLarge(err)
}

func tooLarge(err error) error {
	if errors.Is(err, gomem.ErrTooLarge) {
		return &exitError{code: exitFailed, err: err, hint: "--max-memory SIZE allows more"}
	}
	return err
}

// open opens a process or a core file.
func (f heapFlags) open(arg string) (*heapTarget, error) {
	if pid, err := strconv.Atoi(arg); err == nil && pid > 0 {
		return openLiveHeap(pid)
	}
	return openCoreHeap(arg, f.exe)
}
