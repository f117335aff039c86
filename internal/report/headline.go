package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/units"
)

// leastName is what is left of a program's name where the headline is too wide.
const leastName = 12

// headline says what ended, how, and the fingerprint of why. Where that is too wide
// the name is shortened, then the fingerprint has a line of its own: how it ended
// is never cut.
func (p *page) headline(a *explain.Answer) {
	name, end, right := nameOf(a.Program), outcome(a.Outcome), fingerprint(a.Verdict)
	room := p.width - columns(end) - 2 // for the name and the fingerprint
	short := strings.TrimPrefix(right, "fingerprint ")
	switch n := columns(name); {
	case n+2+columns(right) <= room:
		p.both(name+"  "+end, right)
	case min(n, leastName)+2+columns(short) <= room:
		p.both(fold(name, room-2-columns(short))+"  "+end, short)
	default:
		p.wrap(fold(name, max(leastName, room))+"  ", end)
		if right != "" {
			p.wrap("  ", right)
		}
	}
}

func nameOf(p explain.Program) string {
	if p.Name == "" {
		return "the program"
	}
	return fold(p.Name, 30)
}

// fingerprint is that of a cause, "" where there is none to have one.
func fingerprint(v explain.Verdict) string {
	switch {
	case v.Fingerprint != "":
		return fmt.Sprintf("fingerprint %s (%s)", v.Fingerprint, known(v))
	case v.Class == explain.Inconclusive:
		return "no fingerprint"
	}
	return ""
}

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

func outcome(o explain.Outcome) string {
	after := units.Duration(time.Duration(o.Elapsed * float64(time.Second)))
	switch {
	case o.Kernel:
		return fmt.Sprintf("KILLED by the kernel%s, %s %s", whose(o), after, since(o))
	case o.Stopped != "":
		return stopped(o, after) + peak(o)
	case o.State == explain.Killed:
		return signalled(o, after)
	case o.State == explain.Seen && o.Elapsed == 0:
		return "seen at one instant"
	case o.State == explain.Seen:
		return "seen for " + after
	case o.State == explain.Running && o.Watched:
		return fmt.Sprintf("watched for %s%s", after, peak(o))
	case o.State == explain.Running:
		return fmt.Sprintf("running for %s%s", after, peak(o))
	case o.Signal != "":
		return fmt.Sprintf("stopped by %s%s%s", o.Signal, lasting(o, after), peak(o))
	case o.ExitCode != nil:
		return fmt.Sprintf("exited with code %d%s%s", *o.ExitCode, lasting(o, after), peak(o))
	}
	return fmt.Sprintf("ended%s%s", lasting(o, after), peak(o))
}

// since is what times are counted from.
func since(o explain.Outcome) string {
	if o.Watched {
		return "after the watch began"
	}
	return "after start"
}

// lasting is how long the program lasted, as far as that is known.
func lasting(o explain.Outcome, after string) string {
	if o.Watched {
		return ", " + after + " " + since(o)
	}
	return " after " + after
}

// stopped says why highwater ended the program, and what it said to that.
func stopped(o explain.Outcome, after string) string {
	text := fmt.Sprintf("stopped by highwater after %s", after)
	switch o.Stopped {
	case explain.StoppedLoad:
		text = fmt.Sprintf("stopped by highwater after its load ended, %s %s", after, since(o))
	case explain.StoppedInterrupt:
		text = fmt.Sprintf("stopped by Ctrl-C after %s", after)
	case explain.StoppedTime:
		text = fmt.Sprintf("stopped by highwater after %s, as --for asked", after)
	case explain.StoppedForwarded:
		text = fmt.Sprintf("stopped from outside after %s, by %s sent to highwater", after, o.StopSignal)
	case explain.StoppedUnready:
		text = fmt.Sprintf("stopped by highwater after %s: it was never ready", after)
	}
	switch {
	case o.Signal == "SIGKILL":
		text += " (by SIGKILL: it did not end before)"
	case o.Signal == "" && o.ExitCode != nil && *o.ExitCode != 0:
		text += fmt.Sprintf(" (code %d)", *o.ExitCode)
	}
	return text
}

// signalled tells a request to stop from a kill and a crash.
func signalled(o explain.Outcome, after string) string {
	switch o.Signal {
	case "SIGTERM", "SIGINT", "SIGHUP":
		return fmt.Sprintf("stopped by %s%s%s", o.Signal, lasting(o, after), peak(o))
	case "SIGKILL":
		return fmt.Sprintf("KILLED by SIGKILL, not by the OOM killer, %s %s", after, since(o))
	}
	if o.Elapsed == 0 { // a core file: its start is not known
		return "crashed by " + o.Signal
	}
	return fmt.Sprintf("crashed by %s, %s %s", o.Signal, after, since(o))
}

// whose names the limit that struck.
func whose(o explain.Outcome) string {
	switch o.By {
	case explain.ByCgroup:
		if o.LimitBytes != nil {
			return ": the limit of " + units.Limit(*o.LimitBytes)
		}
		return ": the limit of its cgroup"
	case explain.ByParent:
		return ": the limit of a parent cgroup"
	case explain.ByNode:
		return ": the machine was out of memory"
	}
	return ""
}

func peak(o explain.Outcome) string {
	if o.PeakBytes == nil {
		return ""
	}
	if o.LimitBytes == nil {
		return ": peak " + units.Size(*o.PeakBytes)
	}
	return fmt.Sprintf(": peak %s of %s", units.Size(*o.PeakBytes), units.Limit(*o.LimitBytes))
}

func (p *page) verdict(v explain.Verdict) {
	p.wrap("  ", v.Sentence)
	if v.Class == explain.Inconclusive {
		return
	}
	text := fmt.Sprintf("%s Confidence %s", v.Detail, v.Confidence)
	if len(v.Reasons) > 0 {
		text += ": " + strings.Join(v.Reasons, "; ")
	}
	p.wrap("  ", text+".")
	if v.Note != nil && v.Note.Text != "" {
		p.wrap("  NOTE ", v.Note.Text)
	}
}

// undecided prints what is certain, what is missing and what would get it.
func (p *page) undecided(v explain.Verdict, most int) {
	for _, part := range []struct {
		head  string
		texts []string
	}{{"Known", v.Known}, {"Not known", v.NotKnown}} {
		if len(part.texts) > 0 {
			p.wrap("  "+pad(part.head, 12), strings.Join(part.texts, "; "))
		}
	}
	head := "Next"
	for _, command := range v.Next {
		p.command("  "+pad(head, 12), command, most)
		head = ""
	}
}
