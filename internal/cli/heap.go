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
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
)

// heapFlags are heap's flags as given.
type heapFlags struct {
	maxStop         time.Duration
	noStop, json    bool
	maxMemory, path string
	typ, exe        string
}

func heapCommand(s *streams) *cobra.Command {
	var f heapFlags
	c := &cobra.Command{
		Use:   "heap PID|CORE",
		Short: "Who holds the memory: retained sizes, holders by field, paths from roots",
		Long: `Finds every object of a Go program's heap, what is reachable, and what keeps how
much of it alive: by variable and field, by goroutine and stack frame, joined with
the lines that allocated it where the program has a heap profile.

A running program is stopped for as long as it takes to copy what points to what,
some 0.15 s for a heap of 1 GiB, and thought about afterwards. --max-stop bounds the
stop: what does not fit into it is not done. With --no-stop nothing is stopped;
objects that move between variables meanwhile may then count twice or not at all.
If highwater dies, the program goes on.

What something retains is what would be garbage without it. What several places
hold is listed under "several places".

Types need no DWARF: objects over 512 bytes, interfaces, closures and all that can
be reached from those carry theirs. Names of variables need a symbol table, their
types DWARF; a stripped program's variables are shown by address.`,
		Example: `  highwater heap 4711
  highwater heap 4711 --max-stop 50ms --json
  highwater heap core.4711 --exe ./server
  highwater heap 4711 --path 0xc000123400`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), s, args[0]) },
	}
	flags := c.Flags()
	flags.DurationVar(&f.maxStop, "max-stop", 200*time.Millisecond, "stop the program for at most this `time`")
	flags.BoolVar(&f.noStop, "no-stop", false, "do not stop the program; figures are then of no one instant")
	flags.StringVar(&f.maxMemory, "max-memory", "", "use at most this `size` of memory for the analysis (default: three quarters of what is free)")
	flags.StringVar(&f.typ, "type", "", "list who holds the objects of this `type`")
	flags.StringVar(&f.path, "path", "", "print the shortest way from a root to the object at this `address`")
	flags.StringVar(&f.exe, "exe", "", "`path` of the executable that left the core file")
	flags.BoolVar(&f.json, "json", false, "print as JSON")
	return c
}

func (f heapFlags) run(ctx context.Context, s *streams, arg string) error {
	limit, err := f.memory()
	if err != nil {
		return err
	}
	target, err := f.open(arg)
	if err != nil {
		return err
	}
	defer target.close()
	ans := heapAnswer{program: target.name, Gaps: []heapGap{}}
	// What is live here is large and grows in steps: a collection more costs less than
	// twice the memory.
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	copied, threads, err := f.copy(ctx, target, limit, &ans)
	if err != nil {
		return err
	}
	variables, err := target.bin.Variables(copied.VariableRanges())
	if err != nil {
		ans.gap("types of variables", err)
	}
	if len(variables) == 0 {
		ans.gap("names of variables", errors.New("the program has no symbol table: a variable is shown by its address in the executable"))
	}
	objects, err := copied.Graph(ctx, variables, threads)
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // the copy
	a, err := heapgraph.Analyze(ctx, objects)
	if err != nil {
		return err
	}
	switch {
	case f.path != "":
		return f.printPath(s, a)
	case f.typ != "":
		return f.printType(s, a)
	}
	return f.answer(ctx, s, target, a, &ans)
}

// answer completes and prints it.
func (f heapFlags) answer(ctx context.Context, s *streams, target *heapTarget, a *heapgraph.Analysis, ans *heapAnswer) error {
	holders := ans.fill(a)
	if err := ans.allocated(a, holders, target.runtime, target.bin, target.bias); err != nil {
		ans.gap("where objects were allocated", err)
	} else if len(a.Objects.Samples) == 0 {
		ans.gap("where objects were allocated", errors.New("no object is in the heap profile: it is switched off, or all are too young"))
	}
	chains, err := a.Chains(ctx)
	if err != nil {
		return err
	}
	for _, c := range chains[:min(len(chains), maxHeapRows)] {
		ans.Chains = append(ans.Chains, heapChain(c))
	}
	if f.json {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(ans)
	}
	return ans.print(s.out)
}

func (ans *heapAnswer) gap(what string, why error) {
	ans.Gaps = append(ans.Gaps, heapGap{what, why.Error()})
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
	return availableMemory() / 4 * 3, nil
}

// copy copies the heap, with the process stopped if it is one that runs.
func (f heapFlags) copy(ctx context.Context, t *heapTarget, limit sample.Bytes, ans *heapAnswer) (copied *gomem.HeapCopy, threads []gomem.Thread, err error) {
	if t.pid == 0 || f.noStop {
		if t.pid != 0 {
			ans.gap("one instant", errors.New("the program was not stopped: what moved while it was read may count twice or not at all"))
		}
		copied, err = t.runtime.CopyHeap(ctx, nil, limit)
		return copied, t.threads, tooLarge(err)
	}
	stood, err := lastbreath.WhileFrozen(t.pid, f.maxStop, func(ctx context.Context, z *lastbreath.Freeze) (err error) {
		for _, th := range z.Threads {
			threads = append(threads, gomem.Thread(th))
		}
		copied, err = t.runtime.CopyHeap(ctx, nil, limit)
		return err
	})
	ans.StopMS = float64(stood.Microseconds()) / 1000
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, lastbreath.ErrFreeze):
		return nil, nil, &exitError{code: exitInconclusive, err: fmt.Errorf("%s cannot be copied within --max-stop %v; it goes on", t.name, f.maxStop),
			hint: fmt.Sprintf("highwater heap %d --max-stop %v, or --no-stop", t.pid, max(5*f.maxStop, time.Second))}
	case errors.Is(err, os.ErrPermission):
		return nil, nil, &exitError{code: exitNotPermitted, err: err, hint: "highwater heap --no-stop needs no tracing; highwater doctor says what is allowed here"}
	}
	return copied, threads, tooLarge(err)
}

func tooLarge(err error) error {
	if errors.Is(err, gomem.ErrTooLarge) {
		return &exitError{code: exitFailed, err: err, hint: "--max-memory SIZE allows more"}
	}
	return err
}

// open finds out what is meant: a process, a core file, or a recording.
func (f heapFlags) open(arg string) (*heapTarget, error) {
	if pid, err := strconv.Atoi(arg); err == nil && pid > 0 {
		return openLiveHeap(pid)
	}
	file, err := os.Open(arg)
	if err != nil {
		return nil, usagef("highwater heap 4711, or highwater heap core.4711", "%s is no process and no file", arg)
	}
	defer file.Close()
	core, err := isCore(file)
	if err != nil {
		return nil, err
	}
	if core {
		return openCoreHeap(arg, f.exe)
	}
	if r, err := recording.Open(arg); err == nil {
		r.Close()
		return nil, usagef("highwater explain "+arg+" says who allocated; highwater heap PID who holds", "%s is a recording, which keeps no graph of the heap", arg)
	}
	return nil, usagef("highwater heap 4711, or highwater heap core.4711", "%s is not a core file", arg)
}
