package explain

import (
	"strings"
	"testing"
)

// What waits in a channel is a backlog, also where its receiver is so slow that hardly anything of it was freed: from
// the counts of the heap profile alone that is a leak.
func TestWhatWaitsInAChannelIsABacklog(t *testing.T) {
	for name, c := range map[string]struct {
		kind    string
		entries uint64
		want    Class
		fix     string
	}{
		"a channel with much room": {"channel", 900, Backlog, "with all 10,000 items it would retain about 2.1 GiB"},
		"a channel that is full":   {"channel", 10_000, Backlog, "let new work wait, or refuse it"},
		"full, and nobody sends":   {"channel", 9_700, Leak, "drop values that have grown large"},
		"a map":                    {"map", 900, Leak, "delete entries"},
	} {
		s := scenes["a queue that fills faster than it is emptied"]()
		s.Sites = nil
		s.site("example.org/shop/jobs.Read", "/build/shop/jobs/jobs.go", 31, 190, 0)
		s.Heap.Collections[0].Kind, s.Heap.Collections[0].Entries = c.kind, c.entries
		if strings.HasSuffix(name, "nobody sends") {
			s.p.Goroutines = nil
			s.waiting("example.org/shop/jobs.Serve", "/build/shop/jobs/jobs.go", 90, 4, "IO wait", 3)
		}
		a := answerOf(t, s)
		if a.Verdict.Class != c.want || a.Verdict.Confidence == Low || len(a.Fixes) == 0 || !strings.Contains(a.Fixes[0].Text, c.fix) {
			t.Errorf("%s: %s, %s, %+v", name, a.Verdict.Class, a.Verdict.Confidence, a.Fixes)
		}
	}
}
