package app

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
	"github.com/highwater-go/highwater/internal/record/watch"
)

// NativeFlag is how closely native memory is followed.
type NativeFlag struct{ How string }

// The ways but the default, which is by page faults where rights allow: by probes on C's allocator
// besides, and not at all.
const (
	NativeLive = "live"
	NativeOff  = "off"
)

func (f NativeFlag) check() error {
	if f.How != "" && f.How != NativeLive && f.How != NativeOff {
		return Usagef("--native=live", "--native %q is neither live nor off", f.How)
	}
	return nil
}

// faultPool makes so many profilers of page faults, none where that is not wanted.
func (f NativeFlag) faultPool(n int) *faultPool {
	if f.How == NativeOff {
		n = 0
	}
	return newFaultPool(n)
}

// make loads the probes while there are all rights, and says what they will change; nil where they
// were not asked for.
func (f NativeFlag) make(status *status) (*faultprofile.AllocProfiler, error) {
	if f.How != NativeLive {
		return nil, nil
	}
	p, err := faultprofile.NewAllocs(0)
	switch {
	case err == nil:
		status.say("--native=live: sets breakpoints on malloc, free and their like in the memory of the program, in no file, until highwater ends")
		return p, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, &ExitError{Code: exitNotPermitted, Err: fmt.Errorf("--native=live: %s", watch.MissingForFaults("/proc")),
			Hint: "without it, page faults say which lines wrote native memory first, where rights allow that"}
	}
	return nil, &ExitError{Code: ExitFailed, Err: fmt.Errorf("--native=live: %w", err),
		Hint: "leave --native=live out: page faults say which lines wrote native memory first"}
}
