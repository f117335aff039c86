package app

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// group is the runs of one program that ended with the same cause.
type group struct {
	Program     string    `json:"program"`
	Fingerprint string    `json:"fingerprint"` // "": no cause
	Recordings  []string  `json:"recordings"`  // their names, oldest first
	Runs        int       `json:"runs"`
	Killed      int       `json:"killed"`
	Last        time.Time `json:"last"`        // start of the latest
	Peaks       []uint64  `json:"peaks_bytes"` // those that are known, oldest first
	Trend       string    `json:"trend"`       // "rising", "falling", "flat", "varying"; "": fewer than two peaks
}

// GroupsOf are the groups of a list that is newest first, the one with the latest run
// first.
func GroupsOf(all []Listed) []group {
	groups := []group{}
	for _, l := range slices.Backward(all) {
		if l.Verdict == "" { // nothing is known of it yet
			continue
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.Program == programOf(l.Path) && g.Fingerprint == l.Fingerprint })
		if i < 0 {
			groups = append(groups, group{Program: programOf(l.Path), Fingerprint: l.Fingerprint, Peaks: []uint64{}})
			i = len(groups) - 1
		}
		g := &groups[i]
		g.Recordings, g.Runs, g.Last = append(g.Recordings, l.Name), g.Runs+1, l.Started
		if l.State == string(explain.Killed) {
			g.Killed++
		}
		if l.Peak > 0 {
			g.Peaks = append(g.Peaks, l.Peak)
		}
		g.Trend = trendOf(g.Peaks)
	}
	sorting.Stable(groups, func(a, b group) int { return b.Last.Compare(a.Last) })
	return groups
}

// By how much peaks of the same need differ from run to run: a part of the greatest, and
// what the kernel charges ahead in batches.
const (
	noiseShare = 0.05
	noiseFloor = float64(sample.MiB)
)

// trendOf says where peaks lead, oldest first: flat where all are alike, rising or falling
// where no step leads the other way.
func trendOf(peaks []uint64) string {
	if len(peaks) < 2 {
		return ""
	}
	least, most := slices.Min(peaks), slices.Max(peaks)
	noise := max(noiseShare*float64(most), noiseFloor)
	if float64(most-least) <= noise {
		return "flat"
	}
	rises, falls := false, false
	for i, peak := range peaks[1:] {
		switch step := float64(peak) - float64(peaks[i]); {
		case step > noise:
			rises = true
		case step < -noise:
			falls = true
		}
	}
	switch {
	case rises && falls:
		return "varying"
	case cmp.Less(peaks[len(peaks)-1], peaks[0]):
		return "falling"
	}
	return "rising"
}

// printGroups prints how the peaks of several runs compare.
func printGroups(s *Streams, groups []group) {
	table := [][]string{{"PROGRAM", "FINGERPRINT", "RUNS", "KILLED", "FIRST PEAK", "LAST PEAK", "TREND"}}
	for _, g := range groups {
		if g.Trend == "" {
			continue
		}
		table = append(table, []string{g.Program, orDash(g.Fingerprint), strconv.Itoa(g.Runs), strconv.Itoa(g.Killed),
			units.Size(g.Peaks[0]), units.Size(g.Peaks[len(g.Peaks)-1]), g.Trend})
	}
	if len(table) == 1 {
		return
	}
	visible.Fprintf(s.Out, "\n")
	for _, line := range aligned(table, 6) {
		visible.Fprintf(s.Out, "%s\n", line)
	}
}
