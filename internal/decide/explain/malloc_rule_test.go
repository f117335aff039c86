package explain

import (
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// What C code has freed right before a kill was in use until then.
func TestMemoryThatWasFreedAtTheKillAloneIsNotSurelyFragmentation(t *testing.T) {
	at := time.Unix(1000, 0)
	look := func(before time.Duration, free sample.Bytes) recording.MallocAt {
		return recording.MallocAt{At: at.Add(-before), Malloc: sample.Malloc{Allocator: "glibc", FreeResident: free}}
	}
	for _, one := range []struct {
		name  string
		looks []recording.MallocAt
		kept  bool
	}{
		{"never looked at before", []recording.MallocAt{look(0, 90*sample.MiB)}, true},
		{"in use a second before", []recording.MallocAt{look(2*time.Second, sample.MiB), look(time.Second, 2*sample.MiB), look(0, 90*sample.MiB)}, false},
		{"kept for seconds", []recording.MallocAt{look(5*time.Second, sample.MiB), look(2*time.Second, 80*sample.MiB), look(0, 90*sample.MiB)}, true},
	} {
		c := &Case{Evidence: &Evidence{Mallocs: one.looks, Moment: sample.Moment{At: at}}}
		if got := c.keptBefore(90 * sample.MiB); got != one.kept {
			t.Errorf("%s: kept %v", one.name, got)
		}
	}
}

// What was not read of malloc's arenas may be what C code freed: the verdict is then not sure that C code uses it.
func TestNativeMemoryIsNotSureWhereMallocWasReadInPart(t *testing.T) {
	for unread, want := range map[float64]Confidence{0: High, 200: Medium} {
		s := mallocScenes["a cgo leak of one size"]()
		s.p.Malloc.Unread, s.p.Malloc.WhyUnread = bytesOf(unread), "no time was left"
		a := answerOf(t, s)
		if a.Verdict.Class != Native || a.Verdict.Confidence != want {
			t.Errorf("%.0f MiB unread: %s, %s: %s", unread, a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sure)
		}
	}
}

// Of what malloc keeps a busy machine may read half before its time is up: nearly all of that half was freed, and the other half was not found to be in use.
func TestWhatMallocKeepsIsToldWhereHalfOfItWasRead(t *testing.T) {
	for name, c := range map[string]struct {
		free, unread float64
		want         Class
	}{"all": {200, 0, Fragmented}, "half": {100, 120, Fragmented}, "a fifth": {40, 180, Native}, "half, in use": {20, 120, Native}} {
		s := mallocScenes["memory that malloc keeps"]()
		s.p.Malloc.FreeResident, s.p.Malloc.Free = bytesOf(c.free), bytesOf(c.free)
		s.p.Malloc.Unread, s.p.Malloc.WhyUnread = bytesOf(c.unread), "no time was left"
		if a := answerOf(t, s); a.Verdict.Class != c.want {
			t.Errorf("%s: %s, %s: %s", name, a.Verdict.Class, a.Verdict.Confidence, a.Verdict.Sentence)
		}
	}
}
