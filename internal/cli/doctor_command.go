package cli

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func doctorCommand(s *app.Streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor [PROGRAM|PID]",
		Short: "Check what works here, and what you lose without each permission",
		Long: `Tries what highwater needs, on a cgroup and a child of its own, and touches nothing else.
With a program, a library or a PID, it says what it can read of that.`,
		Example: `  highwater doctor
  highwater doctor ./server`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			checks := app.MachineChecks(c.Context())
			if len(args) == 1 {
				more, err := app.ChecksOf(args[0])
				if err != nil {
					return err
				}
				checks = append(checks, more...)
				if pid, err := strconv.Atoi(args[0]); err == nil {
					checks = append(checks, app.HomeCheck(pid))
				}
			}
			if asJSON {
				e := json.NewEncoder(s.Out)
				e.SetIndent("", "  ")
				return e.Encode(map[string]any{"schema": "highwater.doctor/1", "checks": checks})
			}
			app.PrintChecks(s, checks)
			return nil
		},
	}
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		pids, _ := offered(typed, programOffers(false, len(args) == 0))
		return pids, cobra.ShellCompDirectiveDefault // and files
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func waitCommand(*app.Streams) *cobra.Command {
	return &cobra.Command{Use: app.WaitName, Hidden: true, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
		select {
		case <-c.Context().Done():
		case <-time.After(time.Minute):
		}
		return nil
	}}
}
