package explain

import (
	"slices"
	"sort"
	"strings"
	"syscall"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func programOf(c *Case) Program {
	p := Program{PID: c.Subject.PID, HeapProfile: sample.HeapProfileUnknown, Processes: processesOf(c), Place: c.Place}
	if prog := c.program(c.Subject); prog != nil {
		p.Name, p.HeapProfile = prog.Name, prog.HeapProfile
		if prog.Go != nil {
			p.GoVersion = prog.Go.Version
		}
	}
	return p
}

// processesOf are those of the moment, largest first.
func processesOf(c *Case) []Process {
	out := []Process{}
	for _, m := range c.Moment.Processes {
		one := Process{PID: m.Key.PID, Bytes: anonOf(m), Subject: m.Key == c.Subject}
		if m.Signal != 0 {
			one.Signal = signalName(syscall.Signal(m.Signal))
		}
		if prog := c.program(m.Key); prog != nil {
			one.Name, one.Args = prog.Name, Shell(prog.Args[min(1, len(prog.Args)):]...)
			if prog.Go != nil {
				one.GoVersion = prog.Go.Version
			}
		}
		out = append(out, one)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Bytes > out[j].Bytes })
	return out
}

func ledgerOf(l sample.Ledger, untouched sample.Bytes) Ledger {
	out := Ledger{TotalBytes: l.Total, UnexplainedBytes: l.Unexplained, OfCgroup: l.OfCgroup, UntouchedBytes: untouched, Rows: []LedgerRow{}}
	for _, r := range l.Rows {
		out.Rows = append(out.Rows, LedgerRow{Name: r.Name, Bytes: r.Bytes, Reclaimable: r.Reclaimable})
	}
	return out
}

// ledgerNow is the ledger of the moment. The live heap is that of the last GC where it was not counted.
func (c *Case) ledgerNow() Ledger {
	out := ledgerOf(c.ledger, c.pageless())
	for i := range out.Rows {
		out.Rows[i].AsOfGC = out.Rows[i].Name == sample.RowLive && c.g != nil && c.proc.Live == nil
	}
	return out
}

func holdersOf(c *Case) ([]Holder, Sampling) {
	out := []Holder{}
	s := Sampling{View: c.SiteView, Rate: c.Rate, Alone: c.Alone}
	if s.View == "" {
		s.View = "none"
	}
	var variance float64
	for _, site := range runtimeAsOne(c.Sites) {
		s.TotalBytes += site.Bytes
		s.GrowthBytes += site.Growth
		variance += float64(site.Error) * float64(site.Error)
		if len(out) == shown || site.Bytes == 0 {
			s.Others++
			continue
		}
		n := 0
		if c.proc != nil {
			calls, _ := inFlight(c.proc.Goroutines, []Caller{{Function: site.Function}})
			n = calls[0]
		}
		out = append(out, Holder{Place: site.Place, Bytes: site.Bytes, ErrorBytes: site.Error,
			GrowthBytes: site.Growth, OwnCode: site.Own, InFlight: n})
	}
	s.ErrorBytes = root(variance)
	return out, s
}

// allocatorList are the lines that allocated most, live or not.
func allocatorList(c *Case) []Holder {
	out := []Holder{}
	for _, a := range c.Allocators[:min(shown, len(c.Allocators))] {
		out = append(out, Holder{Place: a.Place, Bytes: a.Bytes, GrowthBytes: int64(a.Since), OwnCode: a.Own})
	}
	return out
}

// runtimeAsOne sums up the lines that the Go runtime allocated for itself.
func runtimeAsOne(sites []Site) []Site {
	var out []Site
	first := -1
	for _, s := range sites {
		switch {
		case s.Function != "" && !strings.HasPrefix(s.Function, "runtime."):
			out = append(out, s)
		case first < 0:
			first = len(out)
			out = append(out, s)
		default:
			sum := &out[first]
			sum.Error = root(float64(sum.Error)*float64(sum.Error) + float64(s.Error)*float64(s.Error))
			sum.Bytes, sum.Growth = sum.Bytes+s.Bytes, sum.Growth+s.Growth
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Bytes > out[j].Bytes })
	return out
}

// joined names two things, of one owner where both have it: "the heap profile and
// the Go runtime of shop".
func joined(a, b string) string {
	_, owner, ok := strings.Cut(b, " of ")
	if first, found := strings.CutSuffix(a, " of "+owner); ok && found {
		a = first
	}
	return a + " and " + b
}

// gapsOf lists what was not seen, of the subject first, each once.
func gapsOf(c *Case) []Gap {
	out := []Gap{}
	all := append(c.gapsOfProgram(), c.gapsRecorded()...)
	all = append(append(all, c.holes()...), c.gapsOfMoment()...)
	for _, g := range all {
		if i := slices.IndexFunc(out, func(o Gap) bool { return o.Why == g.Why }); i < 0 {
			out = append(out, g)
		} else if !strings.Contains(out[i].What, g.What) {
			out[i].What = joined(out[i].What, g.What)
		}
	}
	return out
}

// gapsOfProgram are what its executable did not tell.
func (c *Case) gapsOfProgram() (out []Gap) {
	p := c.program(c.Subject)
	if p == nil {
		return nil
	}
	if len(c.Sites) == 0 && p.WhyNot != "" {
		out = append(out, Gap{"the heap profile of " + p.Name, plainly(p.WhyNot)})
	}
	if p.Go != nil && p.Go.FoundByOther() {
		out = append(out, Gap{"symbols of " + p.Name, "the program is stripped, and built by " + p.Go.Version + ": the runtime's variables were found by " +
			p.Go.FoundBy})
	}
	return out
}

// gapsRecorded are those that were noted while it was watched, that of its kill and the subject's first.
func (c *Case) gapsRecorded() (out []Gap) {
	for _, own := range []bool{true, false} {
		for _, g := range c.Evidence.Gaps {
			ofNative := g.What == sample.GapFaults || g.What == sample.GapMappings
			switch told := (Gap{plainWhat(g.What), plainly(g.Why)}); {
			case (g.Process == c.Subject) != own || ofNative && !c.hasMuchNative():
			case g.What == sample.GapKill && own:
				out = slices.Insert(out, 0, told)
			default:
				out = append(out, told)
			}
		}
	}
	return out
}

// gapsOfMoment are what was not read at the moment.
func (c *Case) gapsOfMoment() (out []Gap) {
	if c.proc != nil && c.proc.Incomplete != "" {
		out = append(out, Gap{"the " + c.momentName(), c.proc.Incomplete})
	}
	if c.g != nil && (c.proc.Residency == nil || !c.proc.Residency.GoKnown) {
		out = append(out, Gap{"the owner of each page", "not read; the Go rows come from the runtime's own counters"})
	}
	if g, ok := c.mallocGap(); ok {
		out = append(out, g)
	}
	if g, ok := c.readInMotion(); ok {
		out = append(out, g)
	}
	return out
}

// unmarkedInTime is why nothing is known of what was live where a mark took too long.
const unmarkedInTime = "counting it took too long, so the table shows the figure of the last GC"

// plainWhat is what was not seen, in the words of today: a recording has those of its time.
func plainWhat(what string) string {
	if rest, ok := strings.CutPrefix(what, "who"+" held its heap"); ok { // older words, which no string has any more
		when, name, _ := strings.Cut(rest, ", of ")
		return "what retains the heap of " + name + strings.Replace(when, "at its death", "at its end", 1)
	}
	return what
}

// plainly says a recorded reason in words, where it is an error's.
func plainly(why string) string {
	switch {
	case why == "live objects: context deadline exceeded":
		return unmarkedInTime
	case strings.HasPrefix(why, "plan a copy of the heap: ") && strings.HasSuffix(why, "EOF"):
		return "the program was gone before its heap could be copied"
	case strings.Contains(why, "not a Go program"):
		return "it is not a Go program"
	}
	return copying.Replace(why)
}

// copying are the words of older recordings for why a heap was not copied.
var copying = strings.NewReplacer("it could not be copied within a stop of", "the heap could not be copied in a pause of", "it could not be copied within",
	"the heap could not be copied within", "; the program keeps running", "", "; --heap exit takes longer", " (--heap exit allows a longer pause)",
	"to copy it would pause the program for about", "copying the heap would pause the program for about",
	", and nothing may pause it for more than 50 ms unasked; --heap peak does", "; --heap peak allows that",
	"it takes more than 500 ms to sum it up; --heap exit waits for it", "the analysis of the heap takes more than 500 ms; --heap exit waits for that")
