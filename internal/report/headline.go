package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/units"
)

func (p *page) headline(a *explain.Answer) {
	name := a.Program.Name
	if name == "" {
		name = "the program"
	}
	right := "no fingerprint"
	if v := a.Verdict; v.Fingerprint != "" {
		right = fmt.Sprintf("fingerprint %s (%s)", v.Fingerprint, times(v.Seen))
	} else if v.Class != explain.Inconclusive {
		right = ""
	}
	p.both(fold(name, 30)+"  "+outcome(a.Outcome), right)
}

func times(seen int) string {
	switch seen {
	case 0:
		return "new"
	case 1:
		return "seen once before"
	}
	return fmt.Sprintf("seen %d times before", seen)
}

func outcome(o explain.Outcome) string {
	after := units.Duration(time.Duration(o.Elapsed * float64(time.Second)))
	switch {
	case o.Kernel:
		return fmt.Sprintf("KILLED by the kernel%s, %s after start", whose(o), after)
	case o.State == explain.Killed:
		return signalled(o, after)
	case o.State == explain.Running:
		return fmt.Sprintf("running for %s%s", after, peak(o))
	case o.Signal != "":
		return fmt.Sprintf("stopped by %s after %s%s", o.Signal, after, peak(o))
	case o.ExitCode != nil:
		return fmt.Sprintf("exited with code %d after %s%s", *o.ExitCode, after, peak(o))
	}
	return fmt.Sprintf("ended after %s%s", after, peak(o))
}

// signalled tells a request to stop from a kill and a crash.
func signalled(o explain.Outcome, after string) string {
	switch o.Signal {
	case "SIGTERM", "SIGINT", "SIGHUP":
		return fmt.Sprintf("stopped by %s after %s%s", o.Signal, after, peak(o))
	case "SIGKILL":
		return fmt.Sprintf("KILLED by SIGKILL, not by the OOM killer, %s after start", after)
	}
	return fmt.Sprintf("crashed by %s, %s after start", o.Signal, after)
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
}

// undecided prints what is certain, what is missing and what would get it.
func (p *page) undecided(v explain.Verdict) {
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
		p.add(fold("  "+pad(head, 12)+command, p.width))
		head = ""
	}
}
