package explain

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program that waits for what it started has no pauses between pieces of work: the children's CPU time counts as its own.
// That of a process which it did not start does not.
func TestWaitingForChildrenIsNoPause(t *testing.T) {
	shell, child, grandchild := sample.ProcessKey{PID: 90, Start: 1}, sample.ProcessKey{PID: 9001, Start: 5}, sample.ProcessKey{PID: 9002, Start: 6}
	for name, c := range map[string]struct {
		key    sample.ProcessKey
		parent int
		want   float64
	}{
		"its child works":                {child, subject.PID, 0},
		"a child of its child works":     {grandchild, child.PID, 0},
		"a program next to it works":     {child, shell.PID, 1},
		"the shell that started it does": {shell, 1, 1},
	} {
		s := newScene()
		s.work(0.1, 0.1, 10)
		s.Programs = append(s.Programs, sample.Program{Key: child, Parent: subject.PID}, sample.Program{Key: c.key, Parent: c.parent})
		if c.key == child {
			s.Programs = append(s.Programs[:1], s.Programs[2])
		}
		s.Spans = map[sample.ProcessKey]Span{subject: {CPU: 4}, c.key: {CPU: 60}}
		if got := newCase(s.Evidence).paced(); got != c.want {
			t.Errorf("%s: paced is %v, want %v", name, got, c.want)
		}
	}
}

// A sample without CPU time, as the last of a process that has ended is, is passed over.
func TestASampleWithoutCPUTimeIsPassedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "child.hwm")
	w, err := recording.Create(path, recording.Meta{At: began})
	check(t, err)
	check(t, w.Program(sample.Program{Key: subject, Name: "shop"}))
	for i, seconds := range []int{1, 4, -1} {
		p := sample.Process{Key: subject}
		if seconds > 0 {
			p.Resident = &sample.Resident{Total: 20 * mib, User: time.Duration(seconds) * time.Second, System: time.Second}
		}
		check(t, w.Point(&sample.Point{At: began.Add(time.Duration(i) * time.Second), Processes: []sample.Process{p}}))
	}
	check(t, w.Close())
	r, err := recording.Open(path)
	check(t, err)
	defer r.Close()
	all, err := r.ResidentAbout(100)
	check(t, err)
	if got := cpuTime(all[subject]); all[subject].Len() != 3 || got != 3 {
		t.Errorf("%d samples, %v s", all[subject].Len(), got)
	}
}

// GC takes more of a processor the more is live: a worker that leaks does not work all the time because of that. Where looks at the
// goroutines do not tell, or the clock books the time of others to GC, it may.
func TestWhatGCTakesDoesNotCountAsWork(t *testing.T) {
	for _, k := range []struct {
		gc, cores float64
		looks     int
		want      float64
	}{{0.1, 0.9, 5, 0}, {0.5, 0.9, 5, 1}, {0.5, 0.9, 0, 0}, {trustedShare.v() + 0.01, 0.9, 5, 0}} {
		s := newScene()
		s.work(k.cores, k.gc, 10)
		site := s.site("main.keep", "/build/shop/main.go", 9, 200, 0)
		for i := range k.looks {
			site.Course = append(site.Course, SiteSnapshot{At: float64(i), Goroutines: true})
		}
		c := newCase(s.Evidence)
		c.site = site
		if got := c.paced(); got != k.want {
			t.Errorf("GC took %.0f%% of the CPU time, %d looks: paced is %v, want %v", 100*k.gc, k.looks, got, k.want)
		}
	}
}
