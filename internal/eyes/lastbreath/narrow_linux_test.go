package lastbreath

import (
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

var everyFollowing = map[string]Following{"within budget": WithinBudget, "always": Always, "never": Never}

// tracedThreads is how many threads of a process are traced, and how many it has.
func tracedThreads(t testing.TB, pid int) (traced, all int) {
	t.Helper()
	tids, err := procfs.Threads(procRoot, pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, tid := range tids {
		if tracer, err := procfs.TracerOf(procRoot, tid); err == nil {
			all++
			if tracer != 0 {
				traced++
			}
		}
	}
	return traced, all
}

// atEntry says whether a process stands at its program's first instruction, as
// the last word of /proc/PID/syscall tells.
func atEntry(t testing.TB, pid int) bool {
	t.Helper()
	file, err := elf.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		t.Error(err)
		return false
	}
	defer file.Close()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	words := strings.Fields(string(b))
	return err == nil && words[len(words)-1] == fmt.Sprintf("%#x", file.Entry)
}

func TestAGoProgramsChildrenAreToldOfBeforeTheirFirstInstruction(t *testing.T) {
	var inTime atomic.Int64
	l := &log{news: make(chan struct{}), known: map[int]uint64{}}
	hwtest.Slow(t, "traces a program")
	tracer, err := NewTracer(Handler{
		Exec: func(pid int) bool {
			if atEntry(t, pid) {
				inTime.Add(1)
			}
			return true
		},
		Dying: func(d Death) { l.add("dying %d %v%s", d.PID, d.Status, l.intact(t, d)) },
		Gone:  func(pid int, s sample.Opt[Status]) { l.add("gone %d %v", pid, s.V) },
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	p := start(t, tracer, target, "children", target, "stay")
	p.ready(t)
	var children []int
	for _, n := range []int{3, 1, 3} {
		fmt.Fprintln(p.in, n)
		for range n {
			children = append(children, l.expect(p.ready(t)))
		}
	}
	if got, want := int(inTime.Load()), 1+len(children); got != want {
		t.Errorf("%d programs were told of at their first instruction, want %d", got, want)
	}
	for _, child := range children {
		unix.Kill(child, unix.SIGKILL)
		l.wait(t, fmt.Sprintf("dying %d signal 9, intact", child))
		l.wait(t, fmt.Sprintf("gone %d signal 9", child))
	}
	p.in.Close()
	l.wait(t, fmt.Sprintf("gone %d exit 0", p.pid))
}

func TestABusyProgramIsNarrowedAndItsDeathHeld(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	p := start(t, tracer, target, "churn")
	log.expect(p.ready(t))
	log.wait(t, fmt.Sprintf("narrowed %d", p.pid))
	until(t, func() bool { traced, all := tracedThreads(t, p.pid); return traced == 1 && all > 2 })
	if tracer, err := procfs.TracerOf(procRoot, p.pid); err != nil || tracer != 0 {
		t.Errorf("its first thread, which gets signals, is traced by %d, %v", tracer, err)
	}
	p.answers(t)
	unix.Kill(p.pid, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("dying %d signal 9, intact", p.pid))
	log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
	if lines := log.all(); len(lines) != 4 {
		t.Errorf("told %q; want exec, narrowed, dying, gone", lines)
	}
}

func TestADeathInTheMidstOfNarrowingIsHeld(t *testing.T) {
	for range 20 {
		l := &log{news: make(chan struct{}), known: map[int]uint64{}}
		hwtest.Slow(t, "traces a program")
		tracer, err := NewTracer(Handler{
			Exec:     func(int) bool { return true },
			Narrowed: func(pid int) { unix.Kill(pid, unix.SIGKILL) },
			Dying:    func(d Death) { l.add("dying %d %v", d.PID, d.Status) },
			Gone:     func(pid int, s sample.Opt[Status]) { l.add("gone %d %v", pid, s.V) },
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, tracer, target, "churn")
		l.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
		tracer.Close()
		want := []string{fmt.Sprintf("dying %d signal 9", p.pid), fmt.Sprintf("gone %d signal 9", p.pid)}
		if got := l.all(); !slices.Equal(got, want) {
			t.Fatalf("told %q, want %q", got, want)
		}
	}
}

func TestANarrowedProgramThatExecsIsFollowedOn(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	p := start(t, tracer, target, "churn", "/bin/sh", "-c", "exec "+target+" wait")
	p.ready(t)
	log.wait(t, fmt.Sprintf("narrowed %d", p.pid))
	fmt.Fprint(p.in, "\n\n")
	if line, err := p.out.ReadString('\n'); line != "lives\n" {
		t.Fatalf("%q, %v", line, err)
	}
	log.expect(p.ready(t))
	unix.Kill(p.pid, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("dying %d signal 9, intact", p.pid))
	log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
}

func TestHundredsOfThreadsComeAndGo(t *testing.T) {
	for name, f := range everyFollowing {
		t.Run(name, func(t *testing.T) {
			tracer, log := newTracer(t, Options{FollowForks: f}, nil)
			p := start(t, tracer, target, "crowd", "300")
			p.ready(t)
			log.wait(t, fmt.Sprintf("dying %d exit 0", p.pid))
			log.wait(t, fmt.Sprintf("gone %d exit 0", p.pid))
			if narrowed := slices.Contains(log.all(), fmt.Sprintf("narrowed %d", p.pid)); narrowed != (f == WithinBudget) {
				t.Errorf("narrowed: %v", narrowed)
			}
		})
	}
}

func TestTheBudgetIsFiveStopsASecondAndSixtyAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration // between stops
		stops int           // that it bears
	}{
		"as many as it bears for ever": {time.Second / stopsPerSecond, 1000},
		"all at once":                  {0, stopsAtOnce},
		"a busy thread's":              {time.Second / 50, 66},
		"a GC-heavy program's":         {time.Second / 250, 61},
	} {
		t.Run(name, func(t *testing.T) {
			var b budget
			n, now := 0, time.Unix(0, 0)
			for n < c.stops+1 && b.spend(now) {
				n, now = n+1, now.Add(c.every)
			}
			if n < c.stops || n > c.stops && c.every != time.Second/stopsPerSecond {
				t.Errorf("it held for %d stops, want %d", n, c.stops)
			}
		})
	}
}
