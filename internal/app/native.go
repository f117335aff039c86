package app

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/highwater-go/highwater/internal/faultprofile"
	"github.com/highwater-go/highwater/internal/watch"
)

// NativeFlag is how closely native memory is followed.
type NativeFlag struct{ How string }

// NativeLive is the one way but the default: by probes on C's allocator.
const NativeLive = "live"

func (f NativeFlag) check() error {
	if f.How != "" && f.How != NativeLive {
		return Usagef("--native=live", "--native %q is not live", f.How)
	}
	return nil
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
		return nil, &ExitError{Code: exitNotPermitted, Err: fmt.Errorf("--native=live: %s", watch.MissingForFaults("/proc")), Hint: "without it, page faults say which lines wrote native memory first, where rights allow that"}
	}
	return nil, &ExitError{Code: ExitFailed, Err: fmt.Errorf("--native=live: %w", err), Hint: "leave --native=live out: page faults say which lines wrote native memory first"}
}
