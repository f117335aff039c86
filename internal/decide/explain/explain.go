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
	"time"
)

// shown is how many holders an answer lists.
const shown = 5

// Explain answers for what a recording says. A nil history has seen nothing. More
// causes, of the user's own, come before those that highwater knows.
func Explain(e *Evidence, history History, more ...Cause) (*Answer, error) {
	c := newCase(e)
	c.more = more
	findings := judgeAll(c)
	a := &Answer{Schema: Schema, Recording: e.Recording, Program: programOf(c), Outcome: c.outcome,
		Ledger: c.ledgerNow(), Allocators: allocatorList(c), Run: c.run, Gaps: gapsOf(c), Fixes: []Fix{}, WontHelp: []NoHelp{},
		NotPredicted: undecidedCause}
	a.Holders, a.Sampling = holdersOf(c)
	c.divideRows(&a.Ledger)
	a.Peak = c.composition()
	a.Crash, a.Resident, a.NativeLive = c.Crash, c.residentOf(), c.nativeLiveOf(shown)
	a.Files = c.filesAnswer()
	a.Work, a.Latency, a.Expected = workOf(c), c.Probed.latency(c.Start), c.expectation()
	var facts []Fact
	f := decide(findings, c.unrecordedBytes())
	if f == nil {
		f = c.lean(findings)
	}
	if f != nil {
		a.Verdict, facts = verdictOf(c, f)
		fixesFor(c, f).into(a)
		if f.rank() <= growsOn && f.Confidence == Low || slices.Contains(f.Because, doubtCutShort) {
			a.Verdict.Next = c.nextCommands()
		}
	} else {
		a.Verdict, facts = inconclusive(c, findings)
	}
	a.Trend = c.trendAnswer(a.Verdict.Class)
	if a.Verdict.Class != Healthy { // else its detail says so
		a.Verdict.Sentence = c.crashSentence() + a.Verdict.Sentence
	}
	a.Verdict.Sure, a.Outcome.Sentence = sure(&a.Verdict, &a.Outcome, a.Crash), headline(a.Program, a.Outcome)
	a.RuledOut = ruledOut(c, findings, a.Verdict.Class)
	for _, f := range findings {
		if f.Class != a.Verdict.Class && f.Stance == Silent && !f.Minor {
			facts = append(facts, f.Facts...)
		}
	}
	facts = c.askedFacts(a, facts)
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
	c.doubtYoung(&v)
	if f.Class == Healthy || f.Class == PageCache {
		return v, facts
	}
	facts = append(facts, c.explainMore(f, &v)...)
	if !c.isElsewhere(f) {
		facts = append(facts, c.retention(f, &v)...)
	}
	v.Full = fingerprint(f.Class, blamed(f), c.mainPackage())
	v.Fingerprint = v.Full[:shortFingerprint]
	return v, facts
}

// blamed is the function that a finding's fingerprint has, "" where its line is a hint.
func blamed(f *Finding) string {
	switch {
	case f.Class == GCUnaware:
		return "GOMEMLIMIT" // whose garbage it was may differ from run to run
	case f.Culprit != nil && !f.Culprit.Hint:
		return f.Culprit.Function
	}
	return ""
}

// mainPackage is the import path of the subject's main package, else its name, "" if it was not read.
func (c *Case) mainPackage() string {
	switch p := c.program(c.Subject); {
	case p == nil:
		return ""
	case p.Go == nil:
		return p.Name
	default:
		return p.Go.MainPackage
	}
}

// explainMore adds what the base of causes, the collector's state and the callers have to say of a
// finding, and returns the facts that this rests on.
func (c *Case) explainMore(f *Finding, v *Verdict) (facts []Fact) {
	if k := c.causeFor(f); k != nil && f.Class != Churn {
		at := 0
		if f.Class == Goroutines {
			at = min(1, len(v.Why)) // who starts them comes first
		}
		v.Why = slices.Insert(v.Why, at, c.causeWhy(k))
	}
	if c.g != nil && (f.Class == Leak || f.Class == Burst) && c.pressed && c.waste() > c.bound*15/100 {
		facts = append(facts, c.factCollector())
		v.Why = append(v.Why, Why{Text: c.collectorWhy(), Evidence: []string{"collector"}})
	}
	if f.Class == GCUnaware || f.Class == Churn && c.pressed {
		if why, fact, ok := c.since(); ok {
			facts, v.Why = append(facts, fact), append(v.Why, why)
		}
	}
	if why, ok := c.helperWhy(f.Culprit); ok {
		v.Why = slices.Insert(v.Why, min(1, len(v.Why)), why)
	}
	if k, n := c.askersOf(f.Culprit); k != nil {
		v.Why = append(v.Why, Why{Text: fmt.Sprintf("likely caller (not proven): %s %s inside this function, called at %s", count(n, "goroutine"), was(n),
			place(k.File, k.Line)), Evidence: []string{"site", "goroutines"}})
	}
	return facts
}

// causeWhy is why a line is known to hold memory.
func (c *Case) causeWhy(k *Cause) Why {
	text := k.Why
	if k.Parts && c.outOfReach() >= heldByRoot.v() {
		kept, reached := cutOf(c.Heap, "string")
		text += fmt.Sprintf(". Of %s that such parts keep, %s is in reach", size(kept), size(reached))
	}
	return Why{Text: text, Evidence: []string{"site"}, URL: k.URL}
}

// lessSure lowers a confidence: where the kill was not caught and much came after the moment, no claim is certain.
func lessSure(c *Case, k Confidence) Confidence {
	if c.unrecordedBytes() > c.bound/10 {
		return k.lower()
	}
	return k
}

// ruledOut lists the classes that are not the truth. Where little was seen only
// the page cache is among them: the kernel takes it back before it kills.
func ruledOut(c *Case, findings []Finding, verdict Class) []RuledOut {
	out := []RuledOut{}
	for _, f := range findings {
		if f.Class == verdict || f.Class == Healthy || f.Stance != Silent || f.Minor || !c.canRuleOut(f.Class) {
			continue
		}
		rule, _ := RuleOf(f.Class)
		r := RuledOut{Class: f.Class, Name: rule.Name, Reason: f.Reason}
		for _, fact := range f.Facts {
			r.Evidence = append(r.Evidence, fact.ID)
		}
		out = append(out, r)
	}
	return out
}

// canRuleOut reports whether enough was seen for the silence of a class to mean that it is not the truth.
func (c *Case) canRuleOut(class Class) bool {
	switch {
	case c.Imported != "": // what is silent may lack the evidence
		return false
	case c.momentUnusable() && (class != PageCache || !c.outcome.Kernel), c.runtimeUnreadable() && class != PageCache && class != Shmem:
		return false
	}
	if r, _ := RuleOf(class); r.Rank == growsOn && c.trend().State == NotEnoughData {
		return false
	}
	return !c.otherLanguage() || !ofGo(class)
}

// otherLanguage reports whether the subject is no Go program.
func (c *Case) otherLanguage() bool { return c.g == nil && !c.isGo(c.Subject) }

// ofGo reports whether only a Go program's memory can be of the class.
func ofGo(class Class) bool {
	r, _ := RuleOf(class)
	return !r.Anywhere
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
		f.About, f.ID = f.ID, ids[f.ID]
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

func durationOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
