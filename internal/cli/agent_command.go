package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func agentCommand(s *app.Streams) *cobra.Command {
	var f app.AgentFlags
	c := &cobra.Command{
		Use:   "agent --store URL",
		Short: "Watch every Go program of this node, and send what it sees to a store",
		Long: `Watches every Go program of this machine, including programs that start later, until
you stop it. Once a minute it sends rows to the store: how much memory each program
uses, and how much of its live heap each line allocated. A kill, a crash, or a peak
within 5% of the limit is an incident. The agent sends the cause of an incident at
once, and keeps the recording in --recordings.

While the store cannot be reached, rows wait in --spool. The agent sends names of
functions, files, services and pods, and sizes. It sends no environments, no arguments
and no contents of memory. With --print, it prints every row and sends nothing.

The agent leaves a program alone that has HIGHWATER=off in its environment. With
--heap-profile=marked, the default, it enables heap profiling in programs that have
HIGHWATER_HEAP_PROFILE=1 in their environment, by one write into their memory.`,
		Example: `  highwater agent --store file:///var/lib/highwater/fleet
  highwater agent --store https://clickhouse:8443/highwater --credentials /etc/highwater/store
  highwater agent --print --for 2m | jq 'select(.table == "heap_hour")'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.Run(c.Context(), s) },
	}
	addStore(&f.StoreFlags, c)
	flags := c.Flags()
	flags.StringVar(&f.Node, "node", "", "`name` of this machine in the fleet (default: $NODE_NAME, else its host name)")
	flags.StringVar(&f.Spool, "spool", filepath.Join(app.AgentHome, "spool"), "`directory` for rows that wait for the store")
	flags.StringVar(&f.SpoolSize, "spool-size", app.DefaultSpool, "use at most this `size` of disk for rows that wait; then drop old figures, but no incidents")
	flags.StringVar(&f.Recordings, "recordings", filepath.Join(app.AgentHome, "recordings"),
		"`place` of the recordings of incidents: a directory, or s3://BUCKET/PREFIX")
	flags.StringVar(&f.KeepSize, "recordings-size", app.DefaultSpool, "keep at most this `size` of them on this machine; the oldest go first")
	addBucket(&f.BucketFlags, c)
	flags.StringVar(&f.OTLP, "otlp", "", "send each incident as a log record to this `URL` of a collector, as https://HOST:4318")
	flags.StringVar(&f.Push, "push", "", "push the heap profile of each incident to this `URL`: pyroscope+https://HOST:4040 or parca+https://HOST:7070")
	flags.BoolVar(&f.Events, "events", false, "create an Event on the pod of each incident, with the service account of this pod")
	flags.StringVar(&f.HeapProfile, "heap-profile", "marked", "enable heap profiles in programs without one: `off`, marked or on")
	flags.StringVar(&f.Metrics, "metrics", "", "serve Prometheus metrics at this `address`, as 127.0.0.1:9645 (default: nowhere)")
	flags.IntVar(&f.AtMost, "at-most", 200, "maximum `number` of programs to watch, the largest first")
	flags.DurationVar(&f.RunFor, "for", 0, "end after this time; the programs keep running")
	flags.BoolVar(&f.Check, "check", false, "say whether an agent could run here, and end")
	flags.BoolVar(&f.Print, "print", false, "print every row as JSON, and send nothing")
	return c
}

func addBucket(f *app.BucketFlags, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Endpoint, "bucket-endpoint", "", "`URL` of the bucket's server, as https://HOST:9000 (default: $"+app.BucketEndpointVariable+", else AWS)")
	flags.StringVar(&f.Region, "bucket-region", "", "its `region` (default: $"+app.BucketRegionVariable+", else us-east-1)")
	flags.StringVar(&f.Keys, "bucket-credentials", "", "`file` with ACCESS_KEY:SECRET_KEY for the bucket (default: $"+app.BucketKeysVariable+
		", else $AWS_ACCESS_KEY_ID and $AWS_SECRET_ACCESS_KEY)")
}
