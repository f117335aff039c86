package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func addAsk(f *app.AskFlags, c *cobra.Command) {
	c.Flags().StringVar(&f.Metrics, "metrics", "", "read the metrics of the program in Prometheus format from this `URL`, to find what its memory grows with")
	c.Flags().StringVar(&f.Probe, "probe", "", "time requests to this `URL`: http://..., or redis://host:port for PING (?set=KEY: SET, which writes that key)")
	c.Flags().Float64Var(&f.ProbeRate, "probe-rate", 20, "requests per second of --probe")
}
