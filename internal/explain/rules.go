package explain

import "github.com/highwater-go/highwater/internal/sample"

// Rule judges one class. Judge is a pure function of the case.
type Rule struct {
	Class Class
	Judge func(*Case) Finding
	Page  Page
}

// Page is what docs/rules says of a rule.
type Page struct {
	Truth   string   // what the class means
	Looks   []string // the evidence that decides
	Blind   []string // what the rule cannot see
	Example string   // the scene that shows it
}

// rules, in the order in which those that are ruled out are listed.
var rules = []Rule{
	{Goroutines, judgeGoroutines, goroutinesPage},
	{Leak, judgeLeak, leakPage},
	{Burst, judgeBurst, burstPage},
	{GCUnaware, judgeGCUnaware, gcUnawarePage},
	{Churn, judgeChurn, churnPage},
	{Spiral, judgeSpiral, spiralPage},
	{IdleHeap, judgeIdleHeap, idleHeapPage},
	{Native, judgeNative, nativePage},
	{Shmem, judgeShmem, shmemPage},
	{Baseline, judgeBaseline, baselinePage},
	{Thrash, judgeThrash, thrashPage},
	{PageCache, judgePageCache, pageCachePage},
	{Untouched, judgeUntouched, untouchedPage},
	{Healthy, judgeHealthy, healthyPage},
}

// Stance is what a rule says of its class.
type Stance int

// The stances. The zero one is Silent.
const (
	Silent Stance = iota // it is not the truth, and Reason says why
	Open                 // it may be the truth; Reason says what would decide
	Speaks               // it is a truth
)

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
	Bytes            sample.Bytes
	Culprit          *Culprit
	Why              []Why
	Facts            []Fact // Why refers to their IDs

	// Minor: of a class that is silent, nobody would have asked.
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
	out := make([]Finding, 0, len(rules))
	for _, r := range rules {
		f := r.Judge(c)
		f.Class = r.Class
		out = append(out, f)
	}
	return out
}

// decide picks the finding that explains the moment, nil if none does. A leak
// comes first, of goroutines before that of what they hold, as it kills under any
// setting in the end; then whatever explains most bytes. A leak that stays open lowers the confidence of what is said of
// the heap; garbage that stays open and is more than a burst leaves it undecided,
// and so does more memory unseen than the finding explains.
func decide(findings []Finding, unseen sample.Bytes) *Finding {
	var best *Finding
	for i := range findings {
		f := &findings[i]
		if f.Stance != Speaks {
			continue
		}
		if (f.Class == Leak || f.Class == Goroutines) && f.Bytes >= unseen {
			return f
		}
		if best == nil || f.Bytes > best.Bytes {
			best = f
		}
	}
	if best == nil || best.Bytes < unseen {
		return nil
	}
	sure := best.Confidence == High
	for _, f := range findings {
		switch {
		case f.Stance != Open || best.Class == Native:
		case (f.Class == Leak || f.Class == Goroutines) && best.Class == Healthy:
			return nil
		case f.Class == GCUnaware && best.Class == Burst && f.Bytes > best.Bytes:
			return nil
		case f.Class == Burst && best.Class == GCUnaware && !sure && f.Bytes > best.Bytes:
			return nil // no mark counted what was live
		case f.Class == Leak && best.Class == GCUnaware && f.Bytes > best.Bytes:
			return nil // it fitted then; what only ever grew need not have the next minute
		case f.Class == Leak && best.Confidence == High:
			best.Confidence = Medium
			best.Because = append(best.Because, "whether the live heap would have gone on growing is not decided")
		}
	}
	return best
}
