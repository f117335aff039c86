package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

// add adds the flag; without it the program's heap is captured at its end, and with peaks
// at some of these, too.
func addHeapPolicy(f *app.HeapPolicyFlag, c *cobra.Command, peaks bool) {
	f.Unasked = app.HeapPolicy{Kill: true, Exit: true, Peak: peaks, ByDefault: true}
	c.Flags().StringSliceVar(&f.When, "heap", nil,
		"capture the objects of the heap, with who retains them, at each new `peak`, at the kill, at the exit, or every=30s; the program pauses briefly. Several with commas; off: never (default: at its end, and at peaks that are cheap)")
}
