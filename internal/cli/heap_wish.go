package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// heapWish says when heaps are captured.
type heapWish struct {
	peak, kill bool
	every      time.Duration // 0: not
}

// none: never.
func (w heapWish) none() bool { return w == heapWish{} }

// heapWishFlag is run's and watch's flag as given.
type heapWishFlag struct{ when []string }

func (f *heapWishFlag) add(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.when, "heap", nil, "capture who holds the heap `when`: peak (a new one), kill (death by a signal) or every=DURATION; the program stands still for that (highwater heap RECORDING)")
}

// plan reads it: "peak", "kill", "every=30s", several with commas.
func (f heapWishFlag) plan() (w heapWish, err error) {
	for _, s := range f.when {
		switch name, value, ok := strings.Cut(s, "="); {
		case s == "peak":
			w.peak = true
		case s == "kill":
			w.kill = true
		case name == "every" && ok:
			if w.every, err = time.ParseDuration(value); err != nil || w.every < time.Second {
				return w, usagef("--heap every=30s", "--heap every=%s is no duration of a second or more", value)
			}
		default:
			return w, usagef("--heap kill, --heap peak or --heap every=30s, or several: --heap kill,every=1m", "--heap %s is not known", s)
		}
	}
	return w, nil
}
