package explain

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/words/sorting"
)

// clause is a piece of soft evidence for or against a hypothesis: where a feature is at
// least, or at most, a threshold, it adds its weight to the log-odds. A feature that
// was not seen adds nothing.
type clause struct {
	feature string
	atMost  bool
	bound   threshold
	weight  float64
	words   string // why, as a reason of the confidence; "" is not said
}

// over and under are clauses.
func over(feature string, bound threshold, weight float64, words string) clause {
	return clause{feature, false, bound, weight, words}
}

func under(feature string, bound threshold, weight float64, words string) clause {
	return clause{feature, true, bound, weight, words}
}

func (k clause) holds(f features) bool {
	v, ok := f.get(k.feature)
	if k.atMost {
		return ok && v <= k.bound.v()
	}
	return ok && v >= k.bound.v()
}

// weighed is the sum of the clauses that hold, and which they are.
type weighed struct {
	score float64
	fired []clause
}

// weigh sums up the evidence.
func weigh(f features, clauses []clause) (w weighed) {
	for _, k := range clauses {
		if k.holds(f) {
			w.score += k.weight
			w.fired = append(w.fired, k)
		}
	}
	return w
}

// confidence is how far the score is above what speaks.
func (w weighed) confidence() Confidence {
	switch margin := w.score - speakScore.v(); {
	case margin >= highMargin.v():
		return High
	case margin >= mediumMargin.v():
		return Medium
	}
	return Low
}

// mostReasons bounds how many reasons of each kind a confidence has: the weightiest.
const mostReasons = 2

// because is what speaks for the hypothesis, the weightiest first; against what speaks
// against it.
func (w weighed) because() []string { return w.say(1) }
func (w weighed) against() []string { return w.say(-1) }

func (w weighed) say(sign float64) (out []string) {
	list := slices.Clone(w.fired)
	sorting.Stable(list, func(a, b clause) int { return cmp.Compare(sign*b.weight, sign*a.weight) })
	for _, k := range list {
		if sign*k.weight > 0 && k.words != "" && len(out) < mostReasons {
			out = append(out, k.words)
		}
	}
	return out
}
