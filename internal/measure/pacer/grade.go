package pacer

import (
	"fmt"
	"math"
	"strings"

	"github.com/highwater-go/highwater/internal/words/units"
)

// few is the least number of collections whose live heap was seen.
const few = 3

// muchOff is by how much the replay may be off, as a share, so that its interval, which
// is wider by as much, still says something.
const muchOff = 0.35

// gradeOf holds the model's replay of the recorded setting against the recording,
// and says what else limits the answer.
func gradeOf(h *History, m *model, replay prediction) (Grade, []string) {
	if why := refusal(h, m); why != "" {
		return Refused, []string{why}
	}
	if h.killed {
		return gradeOfKilled(h, m)
	}
	g, rec := grader{grade: High}, h.Recorded
	off := float64(replay.peak.P50)/rec.Peak - 1
	match := fmt.Sprintf("replay %+.0f%%: %s predicted, %s recorded; %d GCs for %d", 100*off, units.Size(replay.peak.P50), units.Size(int64(rec.Peak)), replay.gcs,
		rec.GCs)
	switch size := math.Abs(off); {
	case size <= 0.05:
		g.say(High, match)
	case size <= 0.10:
		g.say(Medium, match)
	case off <= muchOff && off >= -muchOff:
		g.say(Low, match+": trust the interval, not its middle")
	default:
		return Refused, []string{"the model does not reproduce the recorded run: " + match}
	}
	g.liveness(h, m)
	g.seen(h, m)
	if top := m.top(); m.sparse() {
		g.say(Medium, fmt.Sprintf("of %s mapped %s were ever written: of the resident set only the interval can be trusted", units.Size(int64(top.ready)),
			units.Size(int64(top.anon))))
	}
	if m.passed > 2 {
		g.say(Medium, fmt.Sprintf("marks passed their goals by up to %.0f%% of the way to them: the machine was busy", 100*(m.passed-1)))
	}
	return g.grade, g.why
}

// gradeOfKilled grades a replay: what was recorded of a run that was killed is its beginning. The replay of that says
// little; what was live at its end says what must fit.
func gradeOfKilled(h *History, m *model) (Grade, []string) {
	g := grader{grade: High}
	g.liveness(h, m)
	g.say(Medium, "it was killed: that it would have gone on as before is taken for granted")
	if m.beyond > h.Recorded.Anon/10 {
		g.say(Medium, units.Size(int64(m.beyond))+" are not Go's: taken as constant")
	}
	return g.grade, g.why
}

// refusal is why there is nothing to begin with, "" if there is.
func refusal(h *History, m *model) string {
	switch {
	case h.changed > 2:
		return fmt.Sprintf("GOGC or GOMEMLIMIT were changed %d times while it ran: the program sizes its heap itself", h.changed)
	case h.killed && len(h.marks) == 0:
		return "no GC was seen before the kill"
	case h.killed:
	case len(h.marks) < few:
		return fmt.Sprintf("the live heap was read at only %d of the at least %d GCs that a prediction needs. Record a longer run, or one with GOGC=50",
			len(h.marks), few)
	case h.end()-m.rampEnd < m.live.most/2:
		return fmt.Sprintf("too few GCs ran: after its start the program allocated only %s, with a live heap of %s. Record the program under load, or with GOGC=50",
			units.Size(int64(h.end()-m.rampEnd)), units.Size(int64(m.live.most)))
	case h.Recorded.Anon > 0 && m.beyond > 4*h.Recorded.Peak:
		return fmt.Sprintf("%s of the memory is not Go's heap, and no GC setting changes that", units.Size(int64(m.beyond)))
	}
	if name := sizesByMemory(h); name != "" {
		return name + " sizes itself by the memory or the limit that it finds: under another it would not do the same work"
	}
	return h.refusesFuture(m)
}

// memorySized are modules that read the limit, or GOMEMLIMIT, and follow it.
var memorySized = []string{
	"github.com/VictoriaMetrics/", "github.com/raulk/go-watchdog", "github.com/cockroachdb/cockroach",
}

func sizesByMemory(h *History) string {
	if h.Program.Go == nil {
		return ""
	}
	for _, d := range h.Program.Go.Deps {
		for _, name := range memorySized {
			if strings.HasPrefix(d.Path, name) {
				return d.Path
			}
		}
	}
	return ""
}

// grader keeps the lowest grade and all reasons.
type grader struct {
	grade Grade
	why   []string
}

func (g *grader) say(most Grade, why string) {
	rank := map[Grade]int{High: 3, Medium: 2, Low: 1}
	if rank[most] < rank[g.grade] {
		g.grade = most
	}
	g.why = append(g.why, why)
}

// liveness says how well lines between collections tell what was live.
func (g *grader) liveness(h *History, m *model) {
	l := m.live
	if math.IsNaN(l.Median) {
		g.say(Medium, fmt.Sprintf("the live heap was seen at only %d GCs", len(h.marks)))
		return
	}
	said := fmt.Sprintf("the live heap between GCs is known to %.1f%% (90 of 100: %.1f%%)", 100*l.Median, 100*l.P90)
	switch {
	case l.Median > 0.15, l.P90 > 1.0/3: // the peak is of the tenth that is known least
		g.say(Low, said+": it comes in bursts")
	case l.Median > noisy, l.P90 > 0.15:
		g.say(Medium, said+": it comes in bursts")
	case len(h.marks) < 5 && h.Recorded.GCs < 5:
		g.say(Medium, fmt.Sprintf("only %d GCs ran", h.Recorded.GCs))
	default:
		g.say(High, said)
	}
}

// seen says which part of the program's life was not.
func (g *grader) seen(h *History, m *model) {
	if !h.begins {
		g.say(Medium, "the start was not seen: what it needs to start is not in this")
	}
	if h.changed > 0 {
		g.say(Medium, "GOGC or GOMEMLIMIT were set while it ran")
	}
	if !h.killed && !h.ended && m.grows > 0 {
		g.say(Low, "its live heap was growing, by "+perSecond(m.grows)+": a longer run needs more")
	}
	if m.beyond > h.Recorded.Anon/10 {
		g.say(Medium, units.Size(int64(m.beyond))+" are not Go's: taken as constant")
	}
}
