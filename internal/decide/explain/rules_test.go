package explain

import (
	"slices"
	"testing"
)

// quietRun is a run in which a hasty rule would speak, with the rules that may, and
// the verdict.
type quietRun struct {
	run    func() *scene
	speaks []Class
	class  Class
}

func TestEachRuleSpeaksOnlyOfItsOwn(t *testing.T) {
	for name, class := range map[string][]Class{
		"leak": {Leak}, "burst of uploads": {Burst}, "burst in the first rise": {Burst}, "garbage over the limit": {GCUnaware}, "garbage without a mark": nil,
		"cgo leak": {Native}, "a tool that a Go program starts": {Native, Baseline},
		"a file of 1 GiB written": {PageCache, Healthy}, "steady and small": {Healthy}, "tmpfs": {Shmem},
		"steady need above the limit": {Baseline}, "workers that were busy all along": {Burst}, "thousands of goroutines that never end": {Goroutines, Burst},
		"one of several processes leaks":      {Leak},
		"plugins that nobody ends":            {Processes, Baseline},
		"several processes that are too many": {Baseline}, "several processes, one of which still grew": nil, "freed memory that Go keeps": {IdleHeap},
		"buffers that were reserved and never used": {Untouched, Healthy}, "patterns compiled for every value": {Churn, Healthy},
		"allocation that outran the collector": {Churn}, "allocation that GC counted as live": {Churn},
		"a collector that runs all the time": {Spiral, Healthy}, "a program that stands still at its limit": {Baseline, Thrash}, "a stripped program": nil,
		"a program in another language": {Native}, "rows that outlive the function that read them": {Burst}, "the reader of a connection that remembers": {Leak},
		"killed without a last breath": nil,
		"a value that is read whole":   {Burst}, "a value that is being filled": {Burst}, "work in flight in one of several processes": {Burst},
		"growth that came to rest where all is kept": {Leak},
	} {
		if got := speaking(newCase(scenes[name]().Evidence)); !slices.Equal(got, class) {
			t.Errorf("%s: %v speak, want %v", name, got, class)
		}
	}
}

func TestAHastyRuleStaysSilent(t *testing.T) {
	for name, q := range quiet {
		s := q.run()
		if got := speaking(newCase(s.Evidence)); !slices.Equal(got, q.speaks) {
			t.Errorf("%s: %v speak, want %v", name, got, q.speaks)
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkAnswer(t, a)
		if a.Verdict.Class != q.class {
			t.Errorf("%s: %s, want %s: %s", name, a.Verdict.Class, q.class, a.Verdict.Sentence)
		}
	}
}

func speaking(c *Case) (out []Class) {
	for _, f := range judgeAll(c) {
		if f.Stance == Speaks {
			out = append(out, f.Class)
		}
	}
	return out
}

func TestEveryFindingGivesAReason(t *testing.T) {
	for name, run := range scenes {
		for _, f := range judgeAll(newCase(run().Evidence)) {
			if f.Stance == Speaks && (f.Sentence == "" || f.Confidence == "" || len(f.Because) == 0) || f.Stance != Speaks && f.Reason == "" {
				t.Errorf("%s: %s says nothing of why: %+v", name, f.Class, f)
			}
		}
	}
}
