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

// nativeLive is the one way but the default: by probes on C's allocator.
const nativeLive = "live"

func addNative(f *nativeFlag, c *cobra.Command) {
	c.Flags().StringVar(&f.how, "native", "", "`how` to follow native memory besides page faults: live (by probes on malloc, free and their like: which lines of Go hold how much now; takes each call half a microsecond)")
	completeFlag(c, "native", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{nativeLive}, cobra.ShellCompDirectiveNoFileComp
	})
}

func (f nativeFlag) check() error {
	if f.how != "" && f.how != nativeLive {
		return usagef("--native=live", "--native %q is not live", f.how)
	}
	return nil
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
