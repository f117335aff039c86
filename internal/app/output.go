package app

import (
	"errors"
	"io"

	"github.com/highwater-go/highwater/internal/files/outfile"
)

// writeOutput writes a file that the user asked for: all of them go this way.
func writeOutput(path string, write func(io.Writer) error) error {
	err := outfile.Write(path, write)
	if errors.Is(err, outfile.ErrRefused) {
		return Usagef("name a new file, or one that may be replaced", "%w", err)
	}
	return err
}
