//go:build !linux

package procfs

import (
	"errors"
	"os"
)

func readDirect(int, []byte, int64) bool { return false }

func writeDirect(int, []byte, int64) error { return errors.ErrUnsupported }

func readSmall(*os.File, []byte, int64) bool { return false }
