//go:build !linux

package web

import (
	"errors"
	"os"
)

func willNeed(*os.File, int64, int64) error { return errors.ErrUnsupported }
