package pacer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/words/units"
)

// Residual is what one prediction was off by.
type Residual struct {
	// Kind is "heap" or "resident" of a setting, or "kept": the most that was live in a
	// whole run, from what was seen of it up to a kill.
	Kind                        string
	Setting                     string
	Unsure, Predicted, Measured float64
}

// cuts are the shares of a run after which a kill is played.
var cuts = []float64{0.3, 0.5, 0.7}

// Residuals holds a recording against others of the same work under other settings, and
// against itself, cut off as a kill would have. A recording that nothing is predicted
// from has none.
func Residuals(base *History, others []*History) (list []Residual) {
	m := newModel(base)
	if grade, _ := gradeOf(base, m, m.predict(base.Setting, base.forced)); grade == Refused {
		return nil
	}
	for _, other := range others {
		o, name := m.run(other.Setting, base.forced), other.Setting.String()
		list = append(list, Residual{"heap", name, m.unsure, o.peak, other.Recorded.Peak},
			Residual{"resident", name, m.unsure, m.anonAt(o.ready), other.Recorded.Anon})
	}
	for _, share := range cuts {
		if part := base.cutAt(base.start() + share*(base.end()-base.start())); part != nil {
			list = append(list, Residual{"kept", fmt.Sprintf("cut at %.1f", share), part.unsure, part.live.most, m.live.most})
		}
	}
	return list
}

// cutAt is a model of the history up to a clock, as a kill there would have left it: what was live
// then, on the lines, is what a mark at the kill finds. Nil where it says nothing of what
// would have come.
func (h *History) cutAt(clock float64) *model {
	l := path{l: livenessOf(h)}
	part := *h
	part.ticks = slices.Clone(h.ticks[:h.at(clock)+1])
	part.marks = slices.Clone(h.marks)
	part.marks = slices.DeleteFunc(part.marks, func(k mark) bool { return k.clock > clock })
	part.killed, part.ended, part.held = true, false, &knot{clock, l.live(clock)}
	part.Recorded, part.changed = recorded{}, 0
	part.noteRecorded()
	if len(part.ticks) < 2 || len(part.marks) == 0 {
		return nil
	}
	m := newModel(&part)
	if refusal(&part, m) != "" {
		return nil
	}
	return m
}

// String is the setting as in an environment.
func (s Setting) String() string {
	text := "GOGC=off"
	if s.GOGC >= 0 {
		text = "GOGC=" + fmt.Sprint(s.GOGC)
	}
	if s.limited() {
		text += " GOMEMLIMIT=" + units.Env(s.Limit)
	}
	return text
}

// OfProgram is what is off for one program.
type OfProgram struct {
	Program   string
	Residuals []Residual
}

// Table is all of them in the form of residuals.csv.
func Table(all []OfProgram) string {
	var b strings.Builder
	b.WriteString("kind,program,setting,unsure,predicted,measured\n")
	for _, one := range all {
		for _, r := range one.Residuals {
			fmt.Fprintf(&b, "%s,%s,%s,%.4f,%.0f,%.0f\n", r.Kind, one.Program, r.Setting, r.Unsure, r.Predicted, r.Measured)
		}
	}
	return b.String()
}

// LeftOut says for each program how many of its runs lie within intervals that are made
// of all others, and how many above them.
func LeftOut(all []OfProgram) (lines []string) {
	sum := map[string][3]int{}
	for i, one := range all {
		others := slices.Delete(slices.Clone(all), i, i+1)
		past := readErrors(Table(others))
		for _, kind := range []string{"heap", "resident", "kept"} {
			within, above, n := past.of(kind).holds(one.Residuals, kind)
			s := sum[kind]
			sum[kind] = [3]int{s[0] + within, s[1] + above, s[2] + n}
			lines = append(lines, fmt.Sprintf("%-14s %-9s %3d of %3d within, %d above", one.Program, kind, within, n, above))
		}
	}
	for _, kind := range []string{"heap", "resident", "kept"} {
		e := readErrors(Table(all)).of(kind)
		lines = append(lines, fmt.Sprintf("%-14s %-9s %3d of %3d within, %d above; %+.2f to %+.2f", "all", kind, sum[kind][0], sum[kind][2], sum[kind][1], e.low,
			e.high))
	}
	return lines
}

func (p pastErrors) of(kind string) ends {
	return map[string]ends{"heap": p.heap, "resident": p.resident, "kept": p.kept}[kind]
}

// holds counts the residuals of a kind that lie within the ends, and above them.
func (e ends) holds(list []Residual, kind string) (within, above, n int) {
	for _, r := range list {
		if r.Kind != kind {
			continue
		}
		n++
		switch score := (r.Measured/r.Predicted - 1) / r.Unsure; {
		case score > e.high:
			above++
		case score >= e.low:
			within++
		}
	}
	return within, above, n
}
