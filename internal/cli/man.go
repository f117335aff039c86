package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// manMode is of a file that others read: a manual page is for everybody, and says nothing of any program.
const manMode fs.FileMode = 0o644

func manCommand(s *app.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages to a directory",
		Long:  `Writes one page for each command. Highwater makes the directory, but none above it.`,
		Example: `  highwater man pages && man -l pages/highwater.1
  sudo highwater man /usr/local/share/man/man1`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := manualDir(args[0]); err != nil {
				return err
			}
			n, err := writeManual(c.Root(), args[0])
			if err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			visible.Fprintf(s.Out, "wrote %d pages to %s\nman -l %s\n", n, args[0], visible.Shell(filepath.Join(args[0], "highwater.1")))
			return nil
		},
	}
}

// manualDir makes the directory of the pages, but none above it: that may be a slip.
func manualDir(dir string) error {
	err := os.Mkdir(dir, 0o755)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // writing tells whether it is a directory
	case errors.Is(err, fs.ErrNotExist):
		return app.Usagef("mkdir -p "+visible.Shell(filepath.Dir(dir))+" makes it", "there is no directory %s", filepath.Dir(dir))
	case err != nil:
		return fmt.Errorf("write manual pages: %w", err)
	}
	return nil
}

// writeManual writes the page of a command and those of its own commands, and counts them.
func writeManual(c *cobra.Command, dir string) (n int, err error) {
	for _, below := range withPages(c) {
		pages, err := writeManual(below, dir)
		if err != nil {
			return n, err
		}
		n += pages
	}
	return n + 1, outfile.WriteMode(filepath.Join(dir, manName(c)+".1"), manMode, func(w io.Writer) error {
		_, err := io.WriteString(w, manPage(c))
		return err
	})
}
