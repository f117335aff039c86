package lastbreath

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// threaded builds a program in C that makes threads.
func threaded(t *testing.T) string {
	t.Helper()
	hwtest.Need(t, hwtest.Program("gcc"))
	bin := filepath.Join(t.TempDir(), "threads")
	if out, err := exec.Command("gcc", "-pthread", "-o", bin, "testdata/threads.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	return bin
}

func TestThreadsOfAProgramInCAreToldOfWithinTheBudget(t *testing.T) {
	bin := threaded(t)
	for _, c := range []struct {
		threads     int
		more        bool
		least, most int // told of, with the one that stays
	}{
		{3, true, 4, 4},
		{3, false, 1, 1},
		{3000, true, stopsAtOnce, 2000}, // what is more would take six minutes
	} {
		t.Run(fmt.Sprint(c.threads, " ", c.more), func(t *testing.T) {
			l := &log{news: make(chan struct{}), known: map[int]uint64{}}
			hwtest.Slow(t, "traces a program")
			tracer, err := NewTracer(Handler{
				Thread: func(pid int) bool { l.add("thread %d", pid); return c.more },
				Dying:  func(d Death) { l.add("dying %d %v", d.PID, d.Status) },
			}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tracer.Close()
			p := start(t, tracer, bin, fmt.Sprint(c.threads))
			if _, err := p.out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { traced, all := tracedThreads(t, p.pid); return traced == 1 && all == 2 })
			p.in.Close()
			l.wait(t, fmt.Sprintf("dying %d exit %d", p.pid, (c.threads+1)&127))
			told := strings.Count(strings.Join(l.all(), "\n"), fmt.Sprint("thread ", p.pid))
			if told < c.least || told > c.most {
				t.Errorf("told of %d of %d threads, want %d to %d", told, c.threads+1, c.least, c.most)
			}
		})
	}
}
