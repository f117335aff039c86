package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/words/visible"
)

func listCommand(s *app.Streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List your recordings, newest first, and compare the runs of each program",
		Long: `Lists the recordings of the state directory with outcome, peak and verdict, and below
them how the peaks of all runs with the same program and cause compare.`,
		Example: `  highwater list
  highwater list --json | jq '.groups[] | select(.trend == "rising")'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			files, err := app.StoredRecordings()
			if err != nil {
				return err
			}
			all := make([]app.Listed, 0, len(files))
			for _, f := range files {
				all = append(all, app.Describe(f))
			}
			n, err := app.ReadNotes()
			if err != nil {
				visible.Fprintf(s.Err, "highwater: %v\n", err)
			}
			app.TellCauses(all, n)
			if asJSON {
				e := json.NewEncoder(s.Out)
				e.SetIndent("", "  ")
				return e.Encode(map[string]any{"schema": "highwater.list/1", "recordings": all, "groups": app.GroupsOf(all)})
			}
			app.PrintList(s, all)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}
