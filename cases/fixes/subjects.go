package main

import (
	"fmt"
	"strings"
)

// subject is a program and the limit, in MiB, that it is run under.
type subject struct {
	args  []string
	limit int
	env   []string
	// unseen means that later it needs more than it had when it was killed. No recording tells that, so these are
	// counted by themselves.
	unseen bool
}

func (s subject) String() string {
	return fmt.Sprintf("%s under %d MiB", strings.Join(append(append([]string{}, s.env...), s.args...), " "), s.limit)
}

// subjects are programs whose memory the collector's settings change, and those of which
// nothing of the kind should be said. Sizes are in MiB.
func subjects() (list []subject) {
	add := func(limit int, format string, args ...any) {
		list = append(list, subject{args: strings.Fields(fmt.Sprintf(format, args...)), limit: limit})
	}
	for _, live := range []int{30, 45, 60, 75, 90, 105, 120, 140, 160, 180, 200} {
		for _, share := range []float64{1.5, 1.75, 1.9} {
			add(int(share*float64(live))+8, "garbage -live %d -rate 200", live)
		}
	}
	for _, live := range []int{60, 120} {
		add(live*17/10, "garbage -live %d -rate 600", live)
		add(live*17/10+24, "large -live %d -rate 200", live)
		add(live*22/10, "burst -live %d -burst %d", live, live/3)
		add(live*27/10, "burst -live %d -burst %d", live, live/2)
		list = append(list, subject{args: strings.Fields(fmt.Sprintf("higher -live %d -burst %d", live, live/3)), limit: live * 21 / 10, unseen: true})
		add(live*2, "leak -live %d -rate 30", live)
		add(live*2, "leaky -live %d -rate 10", live)
		add(live*2, "batch -live %d", live*3)
		add(live*2, "unused -live %d", live*3)
		add(live+4, "garbage -live %d -rate 100", live) // too small
		list = append(list, subject{args: strings.Fields(fmt.Sprintf("garbage -live %d -rate 300", live)), limit: live * 2,
			env: []string{fmt.Sprintf("GOMEMLIMIT=%dMiB", live*21/20)}})
	}
	return list
}
