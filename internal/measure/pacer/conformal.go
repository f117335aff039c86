package pacer

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// residualsTable is what predictions were off by, one line each: kind, program, setting,
// how unsure the model was, predicted and measured bytes. `go run ./internal/measure/pacer/residuals`
// makes it from recordings (docs/research/tune.md).
//
//go:embed residuals.csv
var residualsTable string

// beyond is the share of past errors that lie beyond either end of an interval.
const beyond = 0.05

// ends are the errors at both ends, in units of how unsure the model was.
type ends struct{ low, high float64 }

// errors are those of past predictions, by kind.
type pastErrors struct {
	heap, resident ends // of a setting
	kept           ends // how much more was live later than up to a kill
}

// readErrors reads the table.
func readErrors(table string) pastErrors {
	scores := map[string][]float64{}
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) != 6 {
			continue
		}
		unsure, err := strconv.ParseFloat(f[3], 64)
		predicted, err2 := strconv.ParseFloat(f[4], 64)
		measured, err3 := strconv.ParseFloat(f[5], 64)
		if err != nil || err2 != nil || err3 != nil || predicted <= 0 || unsure <= 0 {
			continue // the head
		}
		scores[f[0]] = append(scores[f[0]], (measured/predicted-1)/unsure)
	}
	return pastErrors{endsOf(scores["heap"]), endsOf(scores["resident"]), endsOf(scores["kept"])}
}

// endsOf takes both ends by rank, as split conformal prediction does: of n past errors
// and the next one, each is as likely to be the greatest, so the next lies below the
// ceil((n+1)(1-beyond))-th of them with a chance of at least 1-beyond (Vovk, Gammerman and
// Shafer, Algorithmic Learning in a Random World, 2005). Of too few it is the greatest.
func endsOf(scores []float64) ends {
	if len(scores) == 0 {
		return ends{-1, 1}
	}
	slices.Sort(scores)
	n := len(scores)
	rank := min(n, int(math.Ceil(float64(n+1)*(1-beyond))))
	return ends{low: min(0, scores[n-rank]), high: max(0, scores[rank-1])}
}

// around is the interval of a figure that the model was so unsure of.
func (e ends) around(v, unsure float64) Range {
	return Range{sample.Bytes(max(0, v*(1+e.low*unsure))), sample.Bytes(v), sample.Bytes(v * (1 + e.high*unsure))}
}

// How unsure the model is of a recording, as a share: by leastUnsure where the same
// setting twice gives as much (docs/research/tune.md), by a part of what lines between
// collections are off by for nine of ten bytes, and by as much as the replay of the
// recorded setting is off. A run that was killed is no more than a beginning: of its
// replay nothing is asked, and lines that nothing is known of are off by lineless.
const (
	leastUnsure = 0.04
	byLines     = 0.25
	lineless    = 0.2
)

func unsureOf(h *History, l *liveness, replay float64) float64 {
	switch unknown := math.IsNaN(l.P90); {
	case h.killed && unknown:
		return leastUnsure + byLines*lineless
	case h.killed:
		return leastUnsure + byLines*l.P90
	case unknown:
		return leastUnsure + byLines + math.Abs(replay/h.Recorded.Peak-1)
	}
	return leastUnsure + byLines*l.P90 + math.Abs(replay/h.Recorded.Peak-1)
}
