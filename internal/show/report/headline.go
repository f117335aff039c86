package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/units"
)

// headed is how wide the heads of the finding are: "  Cause   ".
const headed = 10

func head(word string) string { return pad("  "+word, headed) }

// finding prints the cause, why, and how sure that is; where none was found, what is known,
// what is not, and which command would tell.
func (p *page) finding(a *explain.Answer, d detail) {
	v := a.Verdict
	p.wrap(head(causeHead(a)), stopped(strings.TrimPrefix(v.Detail, "Cause: "))+" "+stopped(v.Sentence))
	p.whys(v, d.whys)
	switch {
	case v.Class == explain.Inconclusive:
		p.undecided(v, d)
	case !d.advice:
		first, _, _ := strings.Cut(v.Sure, ". ")
		p.wrap(head("Sure?"), stopped(first))
	case v.Sure != "":
		p.wrap(head("Sure?"), v.Sure)
	}
	if v.Note != nil && v.Note.Text != "" {
		p.wrap(head("Note"), v.Note.Text)
	}
	if d.ruledOut && v.Class != explain.Healthy {
		p.ruledOut(a.RuledOut)
	}
	if v.Class != explain.Inconclusive && len(v.Next) > 0 && d.next {
		p.next("Next", "To be sure, run this", v.Next[0], d)
	}
}

// causeHead is the heading of the cause: where nothing is wrong there is a result and no cause.
func causeHead(a *explain.Answer) string {
	if a.Verdict.Class == explain.Healthy && a.Crash == nil {
		return "Result"
	}
	return "Cause"
}

// sentences makes each text a sentence, and joins them.
func sentences(list ...string) string {
	var out []string
	for _, s := range list {
		if first, _, _ := strings.Cut(s, " "); !strings.ContainsAny(first, "./:(_") {
			s = capital(s)
		}
		if s = stopped(s); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

// stopped is a text with its full stop.
func stopped(s string) string {
	if s = strings.TrimSpace(s); s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// whys prints the steps of the explanation, at least one.
func (p *page) whys(v explain.Verdict, most int) {
	word := "Why"
	for _, w := range v.Why[:min(most, len(v.Why))] {
		p.step(head(word), sentences(w.Text), w.Evidence)
		word = ""
	}
}

// undecided prints what is certain, what is missing and what would get it.
func (p *page) undecided(v explain.Verdict, d detail) {
	for _, part := range []struct {
		head  string
		texts []string
		most  int
	}{{"Known", v.Known, d.whys + 1}, {"Unknown", v.NotKnown, d.whys + 1}} {
		if list := part.texts[:min(part.most, len(part.texts))]; len(list) > 0 {
			p.wrap(head(part.head), sentences(list...))
		}
	}
	word := "Next"
	for _, command := range v.Next {
		p.next(word, "To find out, run this", command, d)
		word = ""
	}
}

// next prints a command that would tell more, behind what it is for.
func (p *page) next(word, purpose, command string, d detail) {
	if strings.Contains(command, leftOut) {
		purpose += ". " + strings.TrimSuffix(fillIn, ":")
	}
	p.wrap(head(word), purpose+":")
	p.command(head(""), command, d.command)
}

// ruledOut names the causes that the evidence excludes.
func (p *page) ruledOut(list []explain.RuledOut) {
	var names []string
	for _, r := range list {
		if rule, ok := explain.RuleOf(r.Class); ok {
			names = append(names, rule.Noun)
		}
	}
	if n := len(names); n > 1 {
		names = append(names[:n-2], names[n-2]+" or "+names[n-1])
	}
	if len(names) > 0 {
		p.wrap(head("Not"), strings.Join(names, ", ")+".")
	}
}

// step prints one reason, its evidence at the right edge of its first line.
func (p *page) step(head, text string, evidence []string) {
	ids := ""
	if len(evidence) > 0 {
		ids = "[" + strings.Join(slices.Sorted(slices.Values(evidence[:min(4, len(evidence))])), " ") + "]"
	}
	for i, line := range wrapped(text, p.right()-columns(head)-columns(ids)-2) {
		if i > 0 {
			head, ids = strings.Repeat(" ", columns(head)), ""
		}
		p.both(head+line, ids)
	}
}

// tagOf is the fingerprint of a cause, and whether the cause was seen before; "" where there
// is none.
func tagOf(v explain.Verdict) string {
	if v.Fingerprint == "" {
		return ""
	}
	return fmt.Sprintf("%s%s (%s)", fingerprint, v.Fingerprint, known(v))
}

// beforePeak is by how much less than the peak the memory was that is divided, for both to be named.
const beforePeak = 0.004

// known says whether the cause was seen before.
func known(v explain.Verdict) string {
	word := "known"
	if v.Note != nil && v.Note.Accepted {
		word = "accepted"
	}
	switch {
	case v.Seen == 1:
		return word + ", once before"
	case v.Seen > 1:
		return fmt.Sprintf("%s, %d times before", word, v.Seen)
	case v.Note != nil:
		return word
	}
	return "new"
}

// when is the time that the table of the memory is of, as its heading; wide: there is room for how long after
// the start a peak was that came well before the end.
func when(a *explain.Answer, wide bool) string {
	o := a.Outcome
	if most := o.PeakBytes; o.Moment == "peak" && wide && a.Ledger.OfCgroup && most != nil && float64(*most-a.Ledger.TotalBytes) > beforePeak*float64(*most) &&
		*most > a.Ledger.TotalBytes {
		return "NEAR THE PEAK OF " + units.Short(*most) // two totals for one peak would be one too many
	}
	switch o.Moment {
	case "last":
		return "AT THE LAST READING"
	case "time":
		return strings.ToUpper(units.Duration(time.Duration(o.MomentElapsed*float64(time.Second)))) + " AFTER START"
	}
	text := "AT THE " + strings.ToUpper(o.Moment)
	if wide && o.Moment == "peak" && o.MomentElapsed < 0.9*o.Elapsed { // what the answer says of the end is of another time
		text += ", " + units.Duration(time.Duration(o.MomentElapsed*float64(time.Second))) + " after start"
	}
	return text
}
