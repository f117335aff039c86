package explain

import "github.com/highwater-go/highwater/internal/sample"

// Rule judges one class. It is a pure function of the case.
type Rule struct {
	Class Class
	Judge func(*Case) Finding
}

// rules, in the order in which those that are ruled out are listed.
var rules = []Rule{
	{Goroutines, judgeGoroutines},
	{Leak, judgeLeak},
	{Burst, judgeBurst},
	{GCUnaware, judgeGCUnaware},
	{Native, judgeNative},
	{Shmem, judgeShmem},
	{Baseline, judgeBaseline},
	{PageCache, judgePageCache},
	{Healthy, judgeHealthy},
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
}

func silent(reason string, facts ...Fact) Finding {
	return Finding{Stance: Silent, Reason: reason, Facts: facts}
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
		if f.Class == Leak || f.Class == Goroutines {
			return f
		}
		if best == nil || f.Bytes > best.Bytes {
			best = f
		}
	}
	if best == nil || best.Bytes < unseen {
		return nil
	}
	for _, f := range findings {
		switch {
		case f.Stance != Open || best.Class == Native:
		case (f.Class == Leak || f.Class == Goroutines) && best.Class == Healthy:
			return nil
		case f.Class == GCUnaware && best.Class == Burst && f.Bytes > best.Bytes:
			return nil
		case f.Class == Leak && best.Confidence == High:
			best.Confidence = Medium
			best.Because = append(best.Because, "whether the live heap would have gone on growing is not decided")
		}
	}
	return best
}
