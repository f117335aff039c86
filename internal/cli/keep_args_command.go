package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func addKeepArgs(k *app.KeepArgs, c *cobra.Command) {
	c.Flags().BoolVar((*bool)(k), "keep-args", false,
		"keep the values of arguments in the recording, except those that look secret (default: names of flags, numbers, sizes, durations and loopback addresses)")
}
