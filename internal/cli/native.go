package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/faultprofile"
	"github.com/highwater-go/highwater/internal/watch"
)

// nativeFlag is how closely native memory is followed.
type nativeFlag struct{ how string }

// The ways but the default, which is by page faults where rights allow: by probes on C's allocator
// besides, and not at all.
const (
	nativeLive = "live"
	nativeOff  = "off"
)

func (f *nativeFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.how, "native", "", "`how` to follow native memory besides page faults: live (by probes on malloc, free and their like: which lines of Go hold how much now; takes each call half a microsecond), or off (no page faults either: nothing of BPF is loaded)")
	completeFlag(c, "native", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{nativeLive, nativeOff}, cobra.ShellCompDirectiveNoFileComp
	})
}

func (f nativeFlag) check() error {
	if f.how != "" && f.how != nativeLive && f.how != nativeOff {
		return usagef("--native=live", "--native %q is neither live nor off", f.how)
	}
	return nil
}

// faultPool makes so many profilers of page faults, none where that is not wanted.
func (f nativeFlag) faultPool(n int) *faultPool {
	if f.how == nativeOff {
		n = 0
	}
	return newFaultPool(n)
}

// make loads the probes while there are all rights, and says what they will change; nil where they
// were not asked for.
func (f nativeFlag) make(status *status) (*faultprofile.AllocProfiler, error) {
	if f.how != nativeLive {
		return nil, nil
	}
	p, err := faultprofile.NewAllocs(0)
	switch {
	case err == nil:
		status.say("--native=live: sets breakpoints on malloc, free and their like in the memory of the program, in no file, until highwater ends")
		return p, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, &exitError{code: exitNotPermitted, err: fmt.Errorf("--native=live: %s", watch.MissingForFaults("/proc")), hint: "without it, page faults say which lines wrote native memory first, where rights allow that"}
	}
	return nil, &exitError{code: exitFailed, err: fmt.Errorf("--native=live: %w", err), hint: "leave --native=live out: page faults say which lines wrote native memory first"}
}
