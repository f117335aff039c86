package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/highwater-go/highwater/internal/outfile"
	"github.com/highwater-go/highwater/internal/visible"
)

// manMode: a manual page is for everybody, and says nothing of any program.
const manMode fs.FileMode = 0o644

func manCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages to a directory",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			if err := writeManual(c.Root(), args[0]); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			visible.Fprintf(s.out, "man -l %s\n", visible.Shell(filepath.Join(args[0], "highwater.1")))
			return nil
		},
	}
}

// writeManual writes the page of a command and those of its own commands.
func writeManual(c *cobra.Command, dir string) error {
	for _, below := range c.Commands() {
		if !below.IsAvailableCommand() || below.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := writeManual(below, dir); err != nil {
			return err
		}
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
	return outfile.WriteMode(filepath.Join(dir, name), manMode, func(w io.Writer) error {
		return doc.GenMan(c, &doc.GenManHeader{Title: "HIGHWATER", Section: "1", Source: "highwater " + version()}, w)
	})
}
