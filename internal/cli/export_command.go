package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func exportCommand(s *app.Streams) *cobra.Command {
	var f app.ExportFlags
	c := &cobra.Command{
		Use:   "export [RECORDING]",
		Short: "Convert a recording to pprof, speedscope, Perfetto, heapsnapshot, CSV or JSON",
		Long: `Writes the heap profile of a recording as a pprof file, the goroutines or the captured
heap of a moment as others, all samples as CSV, or one moment as JSON. Without a moment,
it takes the kill or the peak.

--format folded writes a profile as stacks with a number, for flamegraph.pl or inferno;
--format speedscope writes it for speedscope.app; --format otlp-v1development as
OpenTelemetry's format for profiles, an alpha that its next release may not read.
--push sends it to a Pyroscope or a Parca, and nowhere else.

--perfetto writes all samples, GC pauses and events as a trace for ui.perfetto.dev.

--heapsnapshot writes a heap for the Memory panel of Chromium's developer tools (Load
profile): objects by type, what each retains, what points to it. Of a PID or a CORE that
is the whole graph; small objects are folded by type into what retains them
(--max-objects). Of a RECORDING it is the captured paths. It has no contents of objects.`,
		Example: `  highwater export --pprof > heap.pb.gz && go tool pprof -http=: heap.pb.gz
  highwater export --pprof --at 10s -o before.pb.gz
  highwater export --holders -o holders.pb.gz && go tool pprof -http=: holders.pb.gz
  highwater export --resident -o grown.pb.gz && go tool pprof -http=: grown.pb.gz
  highwater export --format speedscope -o heap.speedscope.json
  highwater export --perfetto -o server.perfetto-trace
  highwater export --push pyroscope+http://127.0.0.1:4040
  highwater export --heapsnapshot 4711 -o server.heapsnapshot
  highwater export --csv server-3 > samples.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.Run(c.Context(), s, args) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.Pprof, "pprof", false, "write the heap profile (default)")
	flags.BoolVar(&f.Goroutines, "goroutines", false, "write the goroutines by stack, with their profiler labels, as a pprof file")
	flags.BoolVar(&f.Holders, "holders", false, "write what retained a captured heap (run --heap) as a pprof file: paths from variables and goroutines as stacks")
	flags.BoolVar(&f.Resident, "resident", false,
		"write what made resident memory grow, native memory and the heap, as a pprof file: sampled page faults by stack, through calls of C")
	flags.BoolVar(&f.Native, "native", false,
		"write what C's allocator had given out and not got back (run --native=live) as a pprof file, by stack, through calls of C")
	flags.BoolVar(&f.Heapsnapshot, "heapsnapshot", false, "write the heap of a PID, a CORE or a RECORDING as a .heapsnapshot file")
	flags.IntVar(&f.Most, "max-objects", 1_000_000,
		"with --heapsnapshot: write at most this `number` of objects, and fold the others by type into what retains them; 0: all")
	flags.BoolVar(&f.CSV, "csv", false, "write all samples, one line per process and instant")
	flags.BoolVar(&f.JSON, "json", false, "write everything known of one moment")
	flags.BoolVar(&f.Perfetto, "perfetto", false, "write all samples, GC pauses and events as a trace of Perfetto")
	flags.StringVar(&f.Push, "push", "", "send the profile to this `store`, pyroscope+URL or parca+URL; http for this machine alone")
	flags.StringVar(&f.PushToken, "push-token", "", "with --push: `file` with the store's bearer token")
	flags.StringVar(&f.View, "view", "",
		"with --pprof: the `view` to write: live (reachable then; default where it is known), published (as the profile of the program itself) or now (not yet swept, dead objects too)")
	flags.StringVar(&f.Format, "format", "pprof", "write profiles as this `format`: pprof, folded, speedscope or otlp-v1development")
	flags.StringVar(&f.At, "at", "", "export this `moment`: peak, kill, last, a time since the start or of the clock")
	flags.IntVar(&f.PID, "pid", 0, "with --pprof and --goroutines: export the `process` with this PID (default: the one with most memory)")
	flags.StringVarP(&f.Output, "output", "o", "", "file to write (default: standard output)")
	c.ValidArgsFunction = completeProcess
	completeFlag(c, "at", completeMoment)
	addReading(&f.Heap, c)
	addTime(&f.Heap.Bound, c)
	f.Heap.Bound.Live = s.Live
	c.MarkFlagsMutuallyExclusive("pprof", "goroutines", "holders", "resident", "native", "heapsnapshot", "csv", "json", "perfetto")
	return c
}
