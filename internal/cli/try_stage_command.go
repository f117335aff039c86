package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/decide/trial"
)

func addTrial(f *app.TrialFlags, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Load, "load", "",
		"run this shell `command` meanwhile, and stop the program when it ends; a run fails if the load fails, or outlives the program")
	flags.StringVar(&f.Ready, "ready", "", "wait for this `port` or URL to answer before the load starts")
	flags.DurationVar(&f.ReadyFor, "ready-timeout", time.Minute, "maximum time to wait for --ready")
	flags.StringVar(&f.Prepare, "prepare", "", "run this shell `command` before each run, outside of its limit")
	flags.DurationVar(&f.RunFor, "for", 0, "stop the program after this time; its run is then complete")
	flags.DurationVar(&f.Timeout, "timeout", app.DefaultTimeout, "stop a run after this time; it then counts as lost")
	flags.DurationVar(&f.Patience, "patience", trial.Patience, "stop a run that has made no progress for this time; it then counts as livelocked")
	flags.DurationVar(&f.Grace, "grace", 5*time.Second, "time from SIGTERM to SIGKILL when a program is stopped")
	flags.StringVarP(&f.Output, "output", "o", "", "new `folder` for the recordings (default: one in the state directory)")
	flags.BoolVar(&f.KeepAll, "keep-all", false, "keep the recordings of all runs (default: typical, worst and lost ones)")
	flags.StringVar(&f.Ask.Probe, "probe", "", "time requests to this `URL`: http://..., or redis://host:port")
	flags.Float64Var(&f.Ask.ProbeRate, "probe-rate", 20, "requests per second of --probe")
	addExpect(&f.Expect, c)
	addKeepArgs(&f.KeepArgs, c)
}
