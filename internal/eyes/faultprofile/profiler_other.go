//go:build !linux || !amd64

package faultprofile

import (
	"errors"
	"runtime"
)

// unsupported is errors.ErrUnsupported in a user's words.
type unsupported string

func (u unsupported) Error() string { return string(u) }

// Is says that it is that error.
func (unsupported) Is(target error) bool { return target == errors.ErrUnsupported }

// Profiler is none here.
type Profiler struct{}

// New says that there is none here.
func New(uint64) (*Profiler, error) {
	return nil, unsupported("page faults are sampled on linux/amd64 alone, and this is " + runtime.GOOS + "/" + runtime.GOARCH)
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

// Pause does nothing.
func (*Profiler) Pause(bool) {}

// Stop does nothing.
func (*Profiler) Stop() {}

// Reset does nothing.
func (*Profiler) Reset() {}

// MappingsUnseen is why mappings are not told.
func (*Profiler) MappingsUnseen() error { return errors.ErrUnsupported }

// SeesFixed says whether mappings at an address that the program chose are told.
func (*Profiler) SeesFixed() bool { return false }

// Close does nothing.
func (*Profiler) Close() error { return nil }

// AllocProfiler is none here.
type AllocProfiler struct{}

// NewAllocs says that there is none here.
func NewAllocs(uint64) (*AllocProfiler, error) {
	return nil, unsupported("allocations of C are sampled on linux/amd64 alone, and this is " + runtime.GOOS + "/" + runtime.GOARCH)
}

// Attach does nothing.
func (*AllocProfiler) Attach(int, string, []Probe) error { return errors.ErrUnsupported }

// Attached is false.
func (*AllocProfiler) Attached(int) bool { return false }

// Detach does nothing.
func (*AllocProfiler) Detach(int) {}

// Know does nothing.
func (*AllocProfiler) Know(int, Target) error { return errors.ErrUnsupported }

// Forget does nothing.
func (*AllocProfiler) Forget(int) {}

// Drain has nothing to give.
func (*AllocProfiler) Drain(int, func(*AllocEvent)) error { return nil }

// Live has none.
func (*AllocProfiler) Live(func(uint64)) error { return nil }

// Release does nothing.
func (*AllocProfiler) Release(int, uint64) {}

// Cost is none.
func (*AllocProfiler) Cost() AllocCost { return AllocCost{} }

// Interval is none.
func (*AllocProfiler) Interval() uint64 { return 0 }

// Stop does nothing.
func (*AllocProfiler) Stop() {}

// Close does nothing.
func (*AllocProfiler) Close() error { return nil }
