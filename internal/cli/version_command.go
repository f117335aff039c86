package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/words/visible"
)

func versionCommand(s *app.Streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of highwater",
		Long:  `Prints the version of highwater, of Go, and the platform, as --version does.`,
		Example: `  highwater version
  highwater version --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(s.Out).Encode(map[string]string{
					"schema": "highwater.version/1", "version": app.Version(), "go": runtime.Version(),
					"os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			visible.Fprintf(s.Out, "%s\n", versionLine())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// answerVersion makes --version print what version does. cobra's own form of it is a text/template, and
// with one in a program the linker keeps every exported method of it (docs/adr/0119).
func answerVersion(root *cobra.Command, s *app.Streams) {
	asked := root.Flags().BoolP("version", "v", false, "version for highwater")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if *asked {
			visible.Fprintf(s.Out, "%s\n", versionLine())
			return nil
		}
		return c.Help()
	}
}

// versionLine is what version and --version print.
func versionLine() string {
	return fmt.Sprintf("highwater %s %s %s/%s", app.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
