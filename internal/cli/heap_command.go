package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func heapCommand(s *app.Streams) *cobra.Command {
	var f app.HeapFlags
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
retain together is listed under "several places". --sample reads a random part of a heap
that is too large for this machine, and says how far each figure may be off. A RECORDING shows the moments at which
run or watch captured the heap (--heap).

Types need no DWARF: large objects, interfaces and closures carry theirs, and highwater
infers the rest. Names of variables need a symbol table; a stripped program's variables
are shown by address.

--native shows the blocks of C's allocator that are not freed instead: by the line of Go that
asked for them, with their age. It needs a recording that was made with --native=live. With a
PID it is the recording of the run or watch that follows this process now.`,
		Example: `  highwater heap 4711
  highwater heap 4711 --max-stop 50ms --json
  highwater heap core.4711 --exe ./server
  highwater heap 4711 --sample --max-stop 1s
  highwater heap 4711 --path 0xc000123400
  highwater heap server-3 --at kill
  highwater heap server-3 --since first
  highwater heap server-3 --native`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.Run(c.Context(), s, args[0]) },
	}
	addReading(&f, c)
	addTime(&f.Bound, c)
	f.Bound.Live = s.Live
	c.ValidArgsFunction = completeProcess
	flags := c.Flags()
	flags.StringVar(&f.Typ, "type", "", "list what retains the objects of this `type`")
	flags.StringVar(&f.Path, "path", "", "print the shortest path from a root to the object at this `address`")
	flags.StringVar(&f.At, "at", "", "of a recording: show the heap captured at this `moment`: kill, peak, last, a time since the start or of the clock")
	flags.StringVar(&f.Since, "since", "", "of a recording: show what grew since the capture at this `moment` (first, or as for --at), up to --at or the last")
	completeFlag(c, "at", completeMoment)
	completeFlag(c, "since", completeMoment)
	flags.BoolVar(&f.Strings, "strings", false,
		"of a process or a core: count the strings that are copies of others (highwater compares contents, and keeps none)")
	flags.BoolVar(&f.Native, "native", false,
		"show C's live blocks by the line of Go that allocated them, of a recording or of a process that is watched with --native=live")
	flags.BoolVar(&f.JSON, "json", false, "print as JSON")
	return c
}

// addReading adds the flags that say how a heap is read.
func addReading(f *app.HeapFlags, c *cobra.Command) {
	flags := c.Flags()
	flags.DurationVar(&f.MaxStop, "max-stop", 200*time.Millisecond, "of a process: pause it for at most this `time`")
	flags.BoolVar(&f.NoStop, "no-stop", false, "of a process: do not pause it; the figures are then not of one instant")
	flags.BoolVar(&f.Sample, "sample", false, "of a process or a core: read a random part of the heap, in little memory; every figure says how far it may be off")
	flags.StringVar(&f.MaxMemory, "max-memory", "", "use at most this `size` of memory for the analysis (default: three quarters of what is free)")
	flags.StringVar(&f.Exe, "exe", "", "with a core file: `path` of the executable that wrote it")
}
