package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func topCommand(s *app.Streams) *cobra.Command {
	f := app.TopFlags{WatchFlags: app.WatchFlags{Quiet: true, Ask: app.AskFlags{ProbeRate: 1}}} // nothing is asked of them
	c := &cobra.Command{
		Use:   "top [PID|NAME...|--container NAME|--cgroup PATH|--all]",
		Short: "Show running programs live: how near each is to its limit, and why",
		Long: `Shows running programs in the terminal: memory against the limit, growth, the time left
to the limit, and the GC's share of the CPU time. Enter shows one program in full: where
its memory is, which lines allocated it, its last GCs. e explains what was recorded so
far, s keeps a moment now, ? shows all keys. Without arguments it shows every Go program.
Where there are more than --at-most, it shows the largest.

It attaches as highwater watch does, at the same cost. When you leave it, it detaches and
the programs keep running. It leaves no recordings behind unless you give --record.

A program that is killed stays in the list, with the reason. On a pipe, or with --once,
top prints the table once.`,
		Example: `  highwater top
  highwater top server
  highwater top --container web
  highwater top --once | sort -k4
  highwater top --json server | jq '.programs[].used_bytes'`,
		RunE: func(c *cobra.Command, args []string) error {
			return f.Run(c.Context(), s, args)
		},
	}
	flags := c.Flags()
	addPlaces(&f.PlaceFlags, c)
	flags.BoolVar(&f.All, "all", false, "watch every Go program of this machine, or of this PID namespace (default)")
	flags.IntVar(&f.AtMost, "at-most", 32, "maximum `number` of programs to watch, with --all or a NAME")
	flags.IntVar(&f.Rate, "rate", 10, "samples per second while memory moves (1 at rest, up to 1000 near the limit)")
	flags.BoolVar(&f.EnableHeapProfile, "enable-heap-profile", false, "enable heap profiling in a program that runs without it, by one write into its memory")
	flags.BoolVar(&f.FiguresAlone, "rss-only", false, "without permission to read the memory of a program, record its RSS and cgroup usage only")
	formerly(flags, &f.FiguresAlone, "figures-alone")
	c.ValidArgsFunction = completePrograms
	flags.BoolVar(&f.Record, "record", false, "keep the recordings, for highwater explain")
	flags.BoolVar(&f.NoRecord, "no-record", false, "leave no recordings behind (the default)")
	_ = flags.MarkHidden("no-record") // it is there
	flags.BoolVar(&f.Once, "once", false, "print the table once and exit, as on a pipe")
	flags.BoolVar(&f.JSON, "json", false, "print the table once as JSON")
	addKeepArgs(&f.KeepArgs, c)
	return c
}
