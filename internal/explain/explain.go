// Package explain reads a recording and says what happened: which moment
// matters, where the memory was then, who held it, what kind of cause it is and
// what would fix it.
//
// Load turns a recording into Evidence. Everything after it is arithmetic on
// that: rules, one file each, that can be wrong in a test. A rule speaks, stays
// silent with its reason, or stays open where the evidence does not decide; then
// the answer says "inconclusive" and names what is missing. Nothing here prints.
package explain

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
)

// shown is how many holders an answer lists.
const shown = 5

// Explain answers for what a recording says. A nil history has seen nothing.
func Explain(e *Evidence, history History) (*Answer, error) {
	c := newCase(e)
	findings := judgeAll(c)
	a := &Answer{Schema: Schema, Recording: e.Recording, Program: programOf(c), Outcome: c.outcome,
		Ledger: ledgerOf(c.ledger), Gaps: gapsOf(c), Fixes: []Fix{}}
	a.Holders, a.Sampling = holdersOf(c)
	var facts []Fact
	if f := decide(findings, c.unseen()); f != nil {
		a.Verdict, facts = verdictOf(c, f)
		a.Fixes = append(a.Fixes, fixesFor(c, f)...)
		if f.Class == Leak && (f.Culprit == nil || c.stillFilling()) {
			a.Verdict.Next = c.nextCommands()
		}
	} else {
		a.Verdict, facts = inconclusive(c, findings)
	}
	a.RuledOut = ruledOut(c, findings, a.Verdict.Class)
	for _, f := range findings {
		if f.Class != a.Verdict.Class && f.Stance == Silent {
			facts = append(facts, f.Facts...)
		}
	}
	number(a, facts)
	if history != nil && a.Verdict.Fingerprint != "" {
		seen, err := history.Seen(a.Verdict.Fingerprint)
		if err != nil {
			return nil, fmt.Errorf("look for %s in earlier recordings: %w", a.Verdict.Fingerprint, err)
		}
		a.Verdict.Seen = seen
	}
	return a, nil
}

func verdictOf(c *Case, f *Finding) (Verdict, []Fact) {
	v := Verdict{Class: f.Class, Sentence: f.Sentence, Detail: f.Detail, Confidence: f.Confidence, Reasons: f.Because,
		Culprit: f.Culprit, Why: f.Why}
	facts := f.Facts
	v.Reasons, v.Confidence = append(v.Reasons, c.unseenGrowth()...), lessSure(c, v.Confidence)
	if f.Class == Healthy || f.Class == PageCache {
		return v, facts
	}
	if k := c.cause(); k != nil && (f.Class == Leak || f.Class == Burst || f.Class == Baseline) {
		v.Why = append([]Why{{Text: k.why, Evidence: []string{"site"}, URL: k.url}}, v.Why...)
	}
	if c.g != nil && (f.Class == Leak || f.Class == Burst) && c.pressed && c.waste() > c.bound*15/100 {
		facts = append(facts, c.factCollector())
		v.Why = append(v.Why, Why{Text: c.collectorWhy(), Evidence: []string{"collector"}})
	}
	function, mainPackage := "", ""
	if f.Culprit != nil && !f.Culprit.Hint {
		function = f.Culprit.Function
	}
	if p := c.program(c.Subject); p != nil {
		mainPackage = p.Name
		if p.Go != nil {
			mainPackage = p.Go.MainPackage
		}
	}
	v.Fingerprint = fingerprint(f.Class, function, mainPackage)
	return v, facts
}

// lessSure: where the kill was not caught and much came after the moment, no
// claim is certain.
func lessSure(c *Case, k Confidence) Confidence {
	if c.unseen() > c.bound/10 {
		if k == High {
			return Medium
		}
		return Low
	}
	return k
}

// ruledOut lists the classes that are not the truth. Where little was seen only
// the page cache is among them: the kernel takes it back before it kills.
func ruledOut(c *Case, findings []Finding, verdict Class) []RuledOut {
	out := []RuledOut{}
	for _, f := range findings {
		if c.blind() && (f.Class != PageCache || !c.outcome.Kernel) || c.unread() && f.Class != PageCache && f.Class != Shmem {
			continue
		}
		if f.Class == verdict || f.Class == Healthy || f.Stance != Silent {
			continue
		}
		r := RuledOut{Class: f.Class, Reason: f.Reason}
		for _, fact := range f.Facts {
			r.Evidence = append(r.Evidence, fact.ID)
		}
		out = append(out, r)
	}
	return out
}

// number lists each fact once and replaces the names that whys and ruled-out
// classes use by its place.
func number(a *Answer, facts []Fact) {
	ids := map[string]string{}
	a.Evidence = []Fact{}
	for _, f := range facts {
		if _, ok := ids[f.ID]; ok {
			continue
		}
		ids[f.ID] = fmt.Sprintf("e%d", len(ids)+1)
		f.ID = ids[f.ID]
		a.Evidence = append(a.Evidence, f)
	}
	for i := range a.Verdict.Why {
		a.Verdict.Why[i].Evidence = numbered(ids, a.Verdict.Why[i].Evidence)
	}
	for i := range a.RuledOut {
		a.RuledOut[i].Evidence = numbered(ids, a.RuledOut[i].Evidence)
	}
	v := &a.Verdict
	for _, s := range []*[]string{&v.Reasons, &v.Known, &v.NotKnown, &v.Next} {
		if *s == nil {
			*s = []string{}
		}
	}
	if v.Why == nil {
		v.Why = []Why{}
	}
}

func numbered(ids map[string]string, names []string) []string {
	out := []string{}
	for _, n := range names {
		if id, ok := ids[n]; ok {
			out = append(out, id)
		}
	}
	return out
}

func programOf(c *Case) Program {
	p := Program{PID: c.Subject.PID, HeapProfile: sample.HeapProfileUnknown, Processes: processesOf(c)}
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
			one.Name, one.Args = prog.Name, shell(prog.Args[min(1, len(prog.Args)):]...)
			if prog.Go != nil {
				one.GoVersion = prog.Go.Version
			}
		}
		out = append(out, one)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Bytes > out[j].Bytes })
	return out
}

func ledgerOf(l sample.Ledger) Ledger {
	out := Ledger{TotalBytes: l.Total, UnexplainedBytes: l.Unexplained, OfCgroup: l.OfCgroup, Rows: []LedgerRow{}}
	for _, r := range l.Rows {
		out.Rows = append(out.Rows, LedgerRow{r.Name, r.Bytes, r.Reclaimable})
	}
	return out
}

func holdersOf(c *Case) ([]Holder, Sampling) {
	out := []Holder{}
	s := Sampling{View: c.SiteView, Rate: c.Rate}
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
		out = append(out, Holder{Function: site.Function, File: site.File, Line: site.Line, Bytes: site.Bytes, ErrorBytes: site.Error,
			GrowthBytes: site.Growth, OwnCode: site.Own, InFlight: n})
	}
	s.ErrorBytes = root(variance)
	return out, s
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

// gapsOf lists what was not seen, of the subject first, each once.
func gapsOf(c *Case) []Gap {
	out := []Gap{}
	add := func(g Gap) {
		if i := slices.IndexFunc(out, func(o Gap) bool { return o.Why == g.Why }); i < 0 {
			out = append(out, g)
		} else if !strings.Contains(out[i].What, g.What) {
			out[i].What += ", " + g.What
		}
	}
	if p := c.program(c.Subject); p != nil && len(c.Sites) == 0 && p.WhyNot != "" {
		add(Gap{"the heap profile of " + p.Name, p.WhyNot})
	}
	for _, own := range []bool{true, false} {
		for _, g := range c.Evidence.Gaps {
			if (g.Process == c.Subject) == own {
				add(Gap{g.What, g.Why})
			}
		}
	}
	if c.proc != nil && c.proc.Incomplete != "" {
		add(Gap{"the " + c.momentName(), c.proc.Incomplete})
	}
	if c.g != nil && (c.proc.Residency == nil || !c.proc.Residency.GoKnown) {
		add(Gap{"where each page lay", "not read at this moment; the Go rows are inferred from the runtime's own figures"})
	}
	if c.g != nil && c.proc.Live == nil {
		add(Gap{"what was live just then", "no mark was made; the live heap is what the last collection found"})
	}
	return out
}

func durationOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
