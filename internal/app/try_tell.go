package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/words/units"
)

// tell says how a run ended, and how all have done so far.
func (t *Try) tell(r trial.Run, done, all int, since time.Duration) {
	left := time.Duration(float64(since) / float64(done) * float64(all-done))
	line := fmt.Sprintf("%d of %d  %s: %s", done, all, r.Variant, needed(r))
	if done < all {
		line += fmt.Sprintf("  (%s; %s left)", t.standing(), units.Duration(left))
	}
	t.status.say("%s", line)
}

// standing is what was lost so far: "lost: base 2/2, limit 0/3".
func (t *Try) standing() string {
	var parts []string
	for _, v := range t.variants {
		lost, n := 0, 0
		for _, r := range t.runs {
			if r.Variant == v.Name {
				n++
				if r.Ended.Lost() {
					lost++
				}
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d/%d", v.Name, lost, n))
		}
	}
	return "lost: " + strings.Join(parts, ", ")
}

// needed is a run in a few words.
func needed(r trial.Run) string {
	text := string(r.Ended)
	if r.Ended == trial.Killed {
		text = "OOM-killed"
	}
	if took, ok := r.Values[trial.FigureTime]; ok {
		text += " after " + units.Duration(time.Duration(took))
	}
	if peak, ok := r.Values[trial.FigurePeak]; ok {
		text += ", peak " + units.Size(int64(peak))
	}
	if r.Ended == trial.Failed || r.Ended == trial.OverBudget {
		text += ": " + r.Why
	}
	return text
}
