package cli

import (
	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/app"
)

// add gives a command the flags, and has it run within them.
func addBound(b *app.Bound, c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&b.Memory, "max-memory", "", "use at most this `size` of memory (default: 1GiB)")
	addTime(b, c)
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		return b.Within(c.Name(), func() error { return run(c, args) })
	}
	return c
}

func addTime(b *app.Bound, c *cobra.Command) {
	c.Flags().DurationVar(&b.Time, "max-time", app.LongReading, "use at most this `time` of a CPU")
}
