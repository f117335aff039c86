package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/budget"
)

// metaExpect is the key of a recording's meta for what --expect said.
const metaExpect = "expect"

// expectFlag is how much memory somebody expects, as given.
type expectFlag string

func addExpect(f *expectFlag, c *cobra.Command) {
	c.Flags().StringVar((*string)(f), "expect", "", "compare the memory with what you expect, as a `size` or by rows: 500MiB, heap=300MiB,stacks=20MiB")
}

// budget is nil where nothing is expected.
func (f expectFlag) budget() (*budget.Budget, error) {
	if f == "" {
		return nil, nil
	}
	b, err := budget.Parse(string(f))
	if err != nil {
		return nil, usagef("--expect 500MiB, or --expect heap=300MiB,native=50MiB", "--expect: %w", err)
	}
	return b, nil
}

func (f expectFlag) describe(more map[string]string) {
	if f != "" {
		more[metaExpect] = string(f)
	}
}
