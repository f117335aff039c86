package explain

import "github.com/highwater-go/highwater/internal/words/sample"

// Rule is all there is of one class of verdict: what it is called, what comes before
// it, how it is judged. Judge is a pure function of the case.
type Rule struct {
	Class Class
	Name  string // in a list of classes: "goroutine leak"
	Noun  string // in a sentence: "a goroutine leak"
	Rank  precedence
	// Anywhere means that memory of a program in any language can be of the class. OffHeap means that the lines of the
	// Go heap are not to blame for it.
	Anywhere, OffHeap bool
	Judge             func(*Case) Finding
	Evidence          []clause // what Judge weighs; nil: its evidence is not soft
	Page              Page
}

// precedence orders the classes among those that speak: the least comes first.
type precedence int

// The ranks. What piles up holds what grows; what grows ends a program under any setting; of what is, the largest part
// explains most; what was left free by that comes after it, and then what costs time, or only looks like memory.
const (
	pilesUp precedence = iota
	growsOn
	overall
	largest
	leftover
	costs
	looks
	nothing
)

// Page is what docs/rules says of a rule.
type Page struct {
	Truth   string   // what the class means
	Looks   []string // the evidence that decides
	Blind   []string // what the rule cannot see
	Example string   // the scene that shows it
}

// rules is the table, in the order in which those that are ruled out are listed.
func rules() []Rule {
	return []Rule{
		{Class: Goroutines, Name: "goroutine leak", Noun: "a goroutine leak", Rank: pilesUp, Judge: judgeGoroutines, Page: goroutinesPage},
		{Class: Processes, Name: "process leak", Noun: "processes that do not end", Rank: pilesUp, Anywhere: true, OffHeap: true, Judge: judgeProcesses,
			Page: processesPage},
		{Class: Leak, Name: "leak", Noun: "a leak", Rank: growsOn, Judge: judgeLeak, Evidence: leakEvidence, Page: leakPage},
		{Class: Backlog, Name: "backlog", Noun: "a backlog", Rank: growsOn, Judge: judgeBacklog, Evidence: backlogEvidence, Page: backlogPage},
		{Class: Burst, Name: "burst", Noun: "a burst", Rank: largest, Judge: judgeBurst, Evidence: burstEvidence, Page: burstPage},
		{Class: GCUnaware, Name: "garbage over the limit", Noun: "garbage that had not been collected", Rank: largest, Judge: judgeGCUnaware, Page: gcUnawarePage},
		{Class: Churn, Name: "high allocation rate", Noun: "a high allocation rate", Rank: costs, Judge: judgeChurn, Page: churnPage},
		{Class: Spiral, Name: "GC thrashing", Noun: "GC thrashing", Rank: overall, Judge: judgeSpiral, Page: spiralPage},
		{Class: IdleHeap, Name: "free heap", Noun: "free heap that Go keeps", Rank: leftover, Judge: judgeIdleHeap, Page: idleHeapPage},
		{Class: Native, Name: "native memory", Noun: "native memory", Rank: largest, Anywhere: true, OffHeap: true, Judge: judgeNative, Page: nativePage},
		{Class: Fragmented, Name: "fragmentation", Noun: "fragmentation of C's memory", Rank: largest, Anywhere: true, OffHeap: true, Judge: judgeFragmented,
			Page: fragmentedPage},
		{Class: Shmem, Name: "shared memory", Noun: "shared memory", Rank: largest, Anywhere: true, OffHeap: true, Judge: judgeShmem, Page: shmemPage},
		{Class: Baseline, Name: "too small a limit", Noun: "too small a limit", Rank: largest, Judge: judgeBaseline, Page: baselinePage},
		{Class: Thrash, Name: "constant reclaim", Noun: "constant reclaim", Rank: overall, Anywhere: true, Judge: judgeThrash, Page: thrashPage},
		{Class: PageCache, Name: "page cache", Noun: "page cache", Rank: looks, Anywhere: true, OffHeap: true, Judge: judgePageCache, Page: pageCachePage},
		{Class: Untouched, Name: "memory never written", Noun: "memory that was never written", Rank: looks, Judge: judgeUntouched, Page: untouchedPage},
		{Class: Healthy, Name: "healthy", Noun: "normal growth", Rank: nothing, Judge: judgeHealthy, Page: healthyPage},
	}
}

// RuleOf is the table's row of a class; ok is false for Inconclusive, which is none.
func RuleOf(class Class) (r Rule, ok bool) {
	for _, r := range rules() {
		if r.Class == class {
			return r, true
		}
	}
	return Rule{Class: class, Name: string(class), Noun: string(class)}, false
}

// Stance is what a rule says of its class.
type Stance int

// The stances. The zero one is Silent.
const (
	Silent Stance = iota // it is not the truth, and Reason says why
	Open                 // it may be the truth; Reason says what would decide
	Speaks               // it is a truth
)

// String names a stance.
func (s Stance) String() string { return [...]string{"silent", "open", "speaks"}[s] }

// Finding is what one rule found.
type Finding struct {
	Class  Class
	Stance Stance
	// Reason says why the class is ruled out, or what would decide.
	Reason string

	// Of a class that speaks: the sentence, its kind in a few words, how far it
	// can be trusted and why, how many bytes of the charge it explains.
	Sentence, Detail string
	Confidence       Confidence
	Because          []string
	Bytes            sample.Bytes // 0 of a class that is not about a part of the memory
	Score            float64      // log-odds, of a class that is judged by weighed evidence
	Culprit          *Culprit
	Why              []Why
	Facts            []Fact // Why refers to their IDs

	// Minor means that nobody would have asked for a class that is silent.
	Minor bool
}

func silent(reason string, facts ...Fact) Finding {
	return Finding{Stance: Silent, Reason: reason, Facts: facts}
}

// minor is a silent stance on a class that is far from the truth: the answer does
// not mention it.
func minor(reason string, facts ...Fact) Finding {
	return Finding{Stance: Silent, Reason: reason, Facts: facts, Minor: true}
}

// undecided is an open stance on a class that would explain so many bytes.
func undecided(bytes float64, reason string, facts ...Fact) Finding {
	return Finding{Stance: Open, Reason: reason, Facts: facts, Bytes: sample.Bytes(max(0, bytes))}
}

func judgeAll(c *Case) []Finding {
	out := make([]Finding, 0, len(rules()))
	for _, r := range rules() {
		f := r.Judge(c)
		f.Class = r.Class
		out = append(out, f)
	}
	return out
}

// decide picks the finding that explains the moment, nil if none does: of those that
// speak, by the rank of their class and then by the bytes that they explain. What grows
// comes first only where it explains at least half as much as the largest part does.
// A class that stays open and would explain more leaves the answer undecided, unless
// what was found is certain; an open growth lowers the confidence of what is said of
// the heap.
func decide(findings []Finding, unseen sample.Bytes) *Finding {
	best := foremost(findings)
	if best == nil || best.hidden(unseen) {
		return nil
	}
	certain := best.Confidence == High && best.rank() != nothing
	for i := range findings {
		f := &findings[i]
		if f.Stance != Open || RuleOffHeap(best.Class) || f.rank() > best.rank() {
			continue
		}
		switch {
		case f.Bytes <= best.Bytes || certain && !f.formOf(best):
		case !f.formOf(best) || best.Confidence == Low:
			return nil
		default:
			best.Confidence = Low // the larger form of the same growth is not sure, and of a short rise nothing is said
			best.Because = append([]string{f.Reason}, best.Because...)
		}
		if f.rank() <= growsOn && best.Confidence == High {
			best.Confidence = Medium
			best.Because = append(best.Because, "whether the live heap would have kept growing")
		}
	}
	return best
}

// hidden reports whether more came after the moment than the finding explains, or anything where it is about no part
// of the memory.
func (f *Finding) hidden(unseen sample.Bytes) bool {
	if f.rank() > leftover {
		return unseen > 0
	}
	return f.Bytes < unseen
}

// formOf reports whether both are about what grows: one is then the other's form.
func (f *Finding) formOf(other *Finding) bool { return f.rank() <= growsOn && other.rank() <= growsOn }

// foremost is the finding that comes before all others that speak, nil where none does. What grows must be a
// good part of the largest, or where the whole memory is short, of that.
func foremost(findings []Finding) (best *Finding) {
	part, whole := mostBytes(findings, largest), mostBytes(findings, overall)
	for i := range findings {
		f := &findings[i]
		if f.Stance != Speaks || f.rank() <= growsOn && (f.Bytes*2 < part || f.Bytes*4 < whole) {
			continue
		}
		if best == nil || f.before(best) {
			best = f
		}
	}
	return best
}

// RuleOffHeap reports whether the lines of the Go heap are not to blame for a class.
func RuleOffHeap(class Class) bool {
	r, _ := RuleOf(class)
	return r.OffHeap
}

func (f *Finding) rank() precedence {
	r, _ := RuleOf(f.Class)
	return r.Rank
}

// before reports whether a finding comes before another: of two that weigh evidence on the
// same memory the one with the higher score, else by rank and by bytes.
func (f *Finding) before(other *Finding) bool {
	switch a, b := f.rank(), other.rank(); {
	case f.Score != 0 && other.Score != 0 && f.Score != other.Score:
		return f.Score > other.Score
	case a != b:
		return a < b
	case f.Confidence != other.Confidence && f.Bytes*10 >= other.Bytes*9 && other.Bytes*10 >= f.Bytes*9:
		return f.Confidence == High || other.Confidence == Low // as much, within the error of sampling
	}
	return f.Bytes > other.Bytes
}

// mostBytes is the greatest part of the memory that a class of a rank explains, or what grows.
func mostBytes(findings []Finding, rank precedence) (most sample.Bytes) {
	for _, f := range findings {
		if f.Stance == Speaks && (f.rank() <= growsOn || f.rank() == rank || rank == largest && f.rank() == leftover) {
			most = max(most, f.Bytes)
		}
	}
	return most
}
