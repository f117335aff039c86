package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func addNative(f *app.NativeFlag, c *cobra.Command) {
	c.Flags().StringVar(&f.How, "native", "",
		"`how` to follow native memory besides page faults: live (by probes on malloc, free and their like: which lines of Go hold how much now; takes each call half a microsecond), or off (no page faults either: nothing of BPF is loaded)")
	completeFlag(c, "native", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{app.NativeLive, app.NativeOff}, cobra.ShellCompDirectiveNoFileComp
	})
}
