package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/record/recording"
)

// tried reads which changes were run for real.
func (l *loader) tried() (err error) {
	l.e.Tried, err = l.Tried()
	return err
}

// told puts what became of a change that was run for real in the place of what was
// predicted of it. One that was lost is no fix any more.
func (p *proposals) told() {
	for _, t := range p.Tried {
		i := slices.IndexFunc(p.fixes, func(f Fix) bool { return sameFix(f, t) })
		if t.Kind == "base" || t.Runs == 0 {
			continue
		}
		switch {
		case t.Lost > 0:
			if i >= 0 {
				p.fixes = slices.Delete(p.fixes, i, i+1)
			}
			p.wontHelp = slices.DeleteFunc(p.wontHelp, func(n NoHelp) bool { return n.Text == t.Fix })
			p.vain(t.Fix, "tried: "+t.Why)
		case i >= 0:
			p.fixes[i].State, p.fixes[i].Outlook = Proved, p.proof(t)
		}
	}
	for i := range p.fixes {
		p.fixes[i].ID = string(rune('A' + i))
	}
}

// sameFix reports whether the change that was tried is this one. Of a change of the code, an older version may have had
// other words for the line, which is enough, or the line where now the holder of the memory is named.
func sameFix(f Fix, t recording.Tried) bool {
	at, change, placed := strings.Cut(f.Text, ": ")
	then, was, _ := strings.Cut(t.Fix, ": ")
	byLine := strings.Contains(then, ".go:") && !strings.Contains(at, ".go:")
	return f.Text == t.Fix || f.Kind == "code" && t.Kind == "code" && placed && (at == then || byLine && change == was)
}

// proof says what was seen: "3 of 3 survived, without it killed 3 of 3".
func (p *proposals) proof(t recording.Tried) string {
	for _, base := range slices.Backward(p.Tried) {
		if base.Kind == "base" && base.At.Equal(t.At) && base.Lost > 0 {
			return fmt.Sprintf("%s. Without the change: %s", t.Why, base.Why)
		}
	}
	return t.Why
}

// Proved is the state of a fix that was run for real and survived.
const Proved = "proved"
