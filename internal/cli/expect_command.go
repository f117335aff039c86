package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

func addExpect(f *app.ExpectFlag, c *cobra.Command) {
	c.Flags().StringVar((*string)(f), "expect", "", "compare the memory with what you expect, as a `size` or by rows: 500MiB, heap=300MiB,stacks=20MiB")
}
