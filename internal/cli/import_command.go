package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func importCommand(s *app.Streams) *cobra.Command {
	var f app.ImportFlags
	c := &cobra.Command{
		Use:   "import FILE... | --url ADDRESS",
		Short: "Make a recording from heap profiles, a gctrace log or a core file",
		Long: `Makes a recording from files that you have, and explains it as far as they go:

  heap profiles   of one program, as /debug/pprof/heap or pprof.WriteHeapProfile
                  write them; several show what grew, in any order
  a log           with lines of GODEBUG=gctrace=1, mixed with other output
  a core file     of a Go program, from the kernel or gcore
  --url ADDRESS   fetches /debug/pprof/heap until --for is over, or Ctrl-C

What such files do not say is listed as not seen, and never shown as zero. Highwater does
not change them. Exit code 4: the evidence is not enough for a verdict.`,
		Example: `  highwater import heap.*.pb.gz
  highwater import server.log
  highwater import --exe ./server core.4121
  highwater import --url localhost:6060 --every 10s --for 30m`,
		RunE: func(c *cobra.Command, args []string) error { return f.Run(c.Context(), s, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.URL, "url", "", "`address` of a program with net/http/pprof: localhost:6060, or the whole URL of its heap profile")
	flags.DurationVar(&f.Every, "every", 10*time.Second, "with --url: time from one profile to the next")
	flags.DurationVar(&f.Lasts, "for", 0, "with --url: end after this time (default: at Ctrl-C)")
	flags.StringVar(&f.Exe, "exe", "", "with a core file: `path` of the executable that wrote it")
	flags.StringVarP(&f.Output, "output", "o", "", "recording to write (default: a new one in the state directory)")
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print neither progress nor the answer")
	addKeepArgs(&f.KeepArgs, c)
	return c
}
