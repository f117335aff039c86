//go:build !linux

package lastbreath

import (
	"context"
	"errors"
	"time"
)

// ErrFreeze says that not all threads of a process stood still in time.
var ErrFreeze = errors.New("its threads did not all stop in time")

// WhileFrozen is for Linux.
func WhileFrozen(int, time.Duration, func(context.Context, *Freeze) error) (time.Duration, error) {
	return 0, errors.ErrUnsupported
}
