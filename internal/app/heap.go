package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/measure/heapgraph"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// HeapFlags are heap's flags as given.
type HeapFlags struct {
	MaxStop         time.Duration
	NoStop, JSON    bool
	Sample          bool
	Strings, Native bool
	MaxMemory, Path string
	Typ, Exe        string
	At, Since       string
	Bound           Bound // of time, for a recording
}

func (f HeapFlags) Run(ctx context.Context, s *Streams, arg string) error {
	if f.Native {
		return f.within("heap --native", func() error { return f.nativeLive(s, arg) })
	}
	recorded, err := f.recordingOf(arg)
	switch {
	case err != nil:
		return err
	case f.Strings && (f.Path != "" || f.Typ != ""):
		return Usagef("highwater heap 4711 --strings", "--strings goes with neither --type nor --path")
	case f.Strings && recorded != "":
		return Usagef("highwater heap 4711 --strings", "--strings needs a process or a core: a recording has no contents")
	case f.Sample && (f.Strings || f.Path != "" || recorded != ""):
		return Usagef("highwater heap 4711 --sample", "--sample goes with a process or a core, and with neither --strings nor --path")
	case recorded != "":
		return f.within("heap", func() error { return f.fromRecording(s, recorded) })
	}
	return f.withinMemory("heap", func() error { return f.ofMemory(ctx, s, arg) })
}

// ofMemory reads a process or a core.
func (f HeapFlags) ofMemory(ctx context.Context, s *Streams, arg string) error {
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
	case f.Path != "":
		return f.printPath(s, a)
	case f.Typ != "":
		return f.printType(s, a)
	}
	c, err := copied.summarize(ctx, a, nil)
	if err != nil {
		return err
	}
	ans := heapAnswerOf(target.name, c)
	ans.Frames = (*stackFrames)(&a.Objects.Frames)
	ans.sampled(a)
	if f.Strings {
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
func (f HeapFlags) withinMemory(what string, do func() error) error {
	limit, err := f.memory()
	if err != nil {
		return err
	}
	return (&Watchman{What: what, Most: limit + besideHeap, lenient: true, live: f.Bound.Live}).Run(do)
}

// within bounds the reading of a recording.
func (f HeapFlags) within(what string, do func() error) error {
	return (&Bound{f.MaxMemory, f.Bound.Time, f.Bound.Live}).Within(what, do)
}

// analyze copies the heap of a target and finds who holds what.
func (f HeapFlags) analyze(ctx context.Context, target *heapTarget) (*heapCopy, *heapgraph.Analysis, error) {
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
func (f HeapFlags) print(s *Streams, ans *heapAnswer) error {
	if f.JSON {
		e := json.NewEncoder(s.Out)
		e.SetIndent("", "  ")
		return e.Encode(ans)
	}
	return ans.print(s.Out)
}

// memory is how much the analysis may take.
func (f HeapFlags) memory() (sample.Bytes, error) {
	if f.MaxMemory != "" {
		n, err := units.ParseSize(f.MaxMemory)
		if err != nil {
			return 0, Usagef("--max-memory 2GiB", "--max-memory: %w", err)
		}
		return sample.Bytes(n), nil
	}
	return ownLimit(), nil
}

// copy copies the heap, with the process stopped if it is one that runs.
func (f HeapFlags) copy(ctx context.Context, t *heapTarget, limit sample.Bytes) (*heapCopy, error) {
	c := &heapCopy{heapTarget: t, reason: sample.HeapAsked, threads: t.threads, limit: limit, strings: f.Strings, sample: f.Sample}
	if t.pid == 0 || f.NoStop {
		if t.pid != 0 {
			c.gap("one instant", errors.New("the program was not stopped: what moved while it was read may count twice or not at all"))
		}
		err := c.take(ctx, limit)
		if err == nil && t.pid != 0 {
			c.copied.Moved()
		}
		return c, f.tooLarge(err, t.pid)
	}
	if err := c.ready(limit); err != nil {
		return nil, f.tooLarge(err, t.pid)
	}
	stood, err := lastbreath.WhileFrozen(t.pid, f.MaxStop, func(ctx context.Context, z *lastbreath.Freeze) error {
		c.standing(z)
		return c.take(ctx, limit)
	})
	c.stopped = stood
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, lastbreath.ErrFreeze):
		err = fmt.Errorf("%s is too large to copy in a pause of %v: nothing was captured, and the program keeps running", t.name, f.MaxStop)
		return nil, &ExitError{Code: ExitInconclusive, Err: err,
			Hint: fmt.Sprintf("highwater heap %d --max-stop %v, or --no-stop, or --sample", t.pid, max(5*f.MaxStop, time.Second))}
	case errors.Is(err, os.ErrPermission):
		return nil, &ExitError{Code: exitNotPermitted, Err: watch.WhyUntraced("/proc", t.pid, err),
			Hint: "highwater heap --no-stop needs no tracing; highwater doctor says what is allowed here"}
	}
	return c, f.tooLarge(err, t.pid)
}

// tooLarge says what to do about a heap that takes more memory than there is; pid is 0 for a core.
func (f HeapFlags) tooLarge(err error, pid int) error {
	if !errors.Is(err, gomem.ErrTooLarge) {
		return err
	}
	hint := "--max-memory SIZE allows more, and highwater heap CORE --exe PROGRAM runs on a machine that has more"
	switch {
	case f.Sample && pid != 0:
		hint = fmt.Sprintf("--max-memory SIZE allows more; highwater watch %d names the lines that allocate it; gcore %d makes a core for a machine with more memory",
			pid, pid)
	case f.Sample:
	case pid != 0:
		hint = fmt.Sprintf("highwater heap %d --sample --max-stop 5s reads a random part of it; --max-memory SIZE allows more; gcore %d makes a core for a machine with more memory",
			pid, pid)
	default:
		hint = "--sample reads a random part of it; " + hint
	}
	return &ExitError{Code: ExitFailed, Err: err, Hint: hint}
}

// open opens a process or a core file.
func (f HeapFlags) open(arg string) (*heapTarget, error) {
	if isPID(arg) {
		pid, _ := strconv.Atoi(arg) // it is one
		return openLiveHeap(pid)
	}
	return openCoreHeap(arg, f.Exe)
}
