//go:build !linux || !amd64

package faultprofile

import (
	"errors"
	"fmt"
)

// Profiler is none here.
type Profiler struct{}

// New says that there is none here.
func New(uint64) (*Profiler, error) {
	return nil, fmt.Errorf("page faults are sampled on linux/amd64 alone: %w", errors.ErrUnsupported)
}

// Attach does nothing.
func (*Profiler) Attach(string, int) error { return errors.ErrUnsupported }

// Know does nothing.
func (*Profiler) Know(int, Target) error { return errors.ErrUnsupported }

// Forget does nothing.
func (*Profiler) Forget(int) {}

// Drain has nothing to give.
func (*Profiler) Drain(int, func(*Sample)) error { return nil }

// Cost is none.
func (*Profiler) Cost() Cost { return Cost{} }

// Stop does nothing.
func (*Profiler) Stop() {}

// Reset does nothing.
func (*Profiler) Reset() {}

// Close does nothing.
func (*Profiler) Close() error { return nil }
