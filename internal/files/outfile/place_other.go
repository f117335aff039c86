//go:build !linux

package outfile

import (
	"errors"
	"io/fs"
	"os"
)

const noTerminal = 0

// descriptor finds none: only Linux has links to open files; elsewhere /dev/stdout is a device.
func descriptor(string) (int, bool) { return 0, false }

func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func planted(string, fs.FileInfo) bool { return false }
