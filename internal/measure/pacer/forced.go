package pacer

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ForcedGCs is when collections are to be asked for: with each event of a kind, or
// every so often.
type ForcedGCs struct {
	Text  string // as the user wrote it
	Every time.Duration
	Bytes sample.Bytes
	Times int // evenly over the time that it ran
	At    []time.Time
}

// clocks are the instants on the clock of allocations, at most mostCollections.
func (a *ForcedGCs) clocks(h *History) (list []float64) {
	lasted := h.lasted().Seconds()
	times, at := 0, func(int) float64 { return 0 }
	switch {
	case a.Every > 0:
		every := a.Every.Seconds()
		times, at = int(min(mostCollections, lasted/every)), func(i int) float64 { return h.clockOf(float64(i) * every) }
	case a.Bytes > 0:
		step := float64(a.Bytes)
		times, at = int(min(mostCollections, (h.end()-h.start())/step)), func(i int) float64 { return h.start() + float64(i)*step }
	case a.Times > 0:
		times, at = min(mostCollections, a.Times), func(i int) float64 { return h.clockOf(lasted * float64(i) / float64(a.Times)) }
	}
	for i := 1; i <= times; i++ {
		list = append(list, at(i))
	}
	for _, t := range a.At {
		list = append(list, h.clockOf(float64(t.UnixNano()-h.began)/1e9))
	}
	return list
}

func merged(a, b []float64) []float64 {
	out := append(append([]float64{}, a...), b...)
	slices.Sort(out)
	return out
}

// ParseForcedGCs reads the EVENT of --gc-at: "3s", "100MiB", "32x", or the kind of an
// event, in which case At is still to be filled.
func ParseForcedGCs(text string, size func(string) (uint64, error)) (*ForcedGCs, error) {
	a := &ForcedGCs{Text: text}
	if n, ok := strings.CutSuffix(text, "x"); ok {
		if times, err := strconv.Atoi(n); err == nil && times > 0 {
			a.Times = times
			return a, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		a.Every = d
		return a, nil
	}
	n, err := size(text)
	if err == nil && n > 0 {
		a.Bytes = sample.Bytes(n)
	}
	return a, err
}
