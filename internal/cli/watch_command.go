package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func watchCommand(s *app.Streams) *cobra.Command {
	var f app.WatchFlags
	c := &cobra.Command{
		Use:   "watch PID|NAME...|--container NAME|--cgroup PATH|--all",
		Short: "Attach to running programs and record them as run does",
		Long: `Attaches to running programs and records them as run does: the same figures, the
state at the exit, and one recording for each life of a program with its children.

A PID is watched until it ends. A NAME is that of an executable: highwater watches all
programs of that name, also those that start later, until Ctrl-C. --container, --pod,
--unit and --cgroup record everything in a cgroup together; no daemon is asked. --all
records every Go program that may be read, each by itself, up to --at-most. Exit code 4:
no program of that NAME came.

Highwater changes nothing in a program and does not stop it, except for --heap. It reads
the program's memory and traces one thread, so that the kernel holds the program at its
exit. When highwater ends, by kill -9 too, the program keeps running. A debugger cannot
attach meanwhile, as a thread has one tracer.

Most servers have no heap profile, because the Go linker leaves it out where nothing
reads it: highwater cannot name their lines then. --enable-heap-profile sets
runtime.MemProfileRate to 524288, Go's default, in the running program, and says so. It
samples one allocation in 512 KiB from then on; memory allocated earlier has no line.

You may watch your own programs unless the kernel forbids it (see highwater doctor), and
as root any program. So may who has CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. Without
CAP_SYS_PTRACE, what a watched program starts loses set-user-id bits and file
capabilities: the kernel ignores them in a traced program.`,
		Example: `  highwater watch 4711
  highwater watch server --for 10m
  highwater watch 4711 --enable-heap-profile -o leak.hwm
  highwater watch --container web
  highwater watch --container default/shop-0/web
  highwater watch --cgroup /system.slice/checkout.service`,
		RunE: func(c *cobra.Command, args []string) error {
			w, err := f.Plan("watch", args)
			if err != nil {
				return err
			}
			return w.Run(c.Context(), s)
		},
	}
	flags := c.Flags()
	addPlaces(&f.PlaceFlags, c)
	flags.BoolVar(&f.All, "all", false, "watch every Go program of this machine, or of this PID namespace")
	flags.IntVar(&f.AtMost, "at-most", 32, "maximum `number` of programs to watch, with --all or a NAME")
	flags.DurationVar(&f.RunFor, "for", 0, "end the watch after this time; the programs keep running")
	flags.StringVarP(&f.Output, "output", "o", "",
		"recording to write, of one PID, NAME, cgroup or container; a NAME's second one is FILE-2 (default: a new one in the state directory)")
	flags.IntVar(&f.Rate, "rate", 10, "samples per second while memory moves (1 at rest, up to 1000 near the limit)")
	flags.BoolVar(&f.EnableHeapProfile, "enable-heap-profile", false, "enable heap profiling in a program that runs without it, by one write into its memory")
	flags.BoolVar(&f.FiguresAlone, "rss-only", false, "without permission to read the memory of a program, record its RSS and cgroup usage only")
	formerly(flags, &f.FiguresAlone, "figures-alone")
	c.ValidArgsFunction = completePrograms
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print neither progress nor the answer")
	addAsk(&f.Ask, c)
	addExpect(&f.Expect, c)
	addHeapPolicy(&f.Heap, c, false)
	addKeepArgs(&f.KeepArgs, c)
	addNative(&f.Native, c)
	return c
}
