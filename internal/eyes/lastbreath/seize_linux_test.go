package lastbreath

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// keyOf names a process that runs.
func keyOf(t testing.TB, pid int) sample.ProcessKey {
	t.Helper()
	key, err := procfs.KeyOf(procRoot, pid)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAPidThatWasUsedAgainIsLetGo(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	p, pid := startPlain(t)
	former := keyOf(t, pid)
	former.Start--
	if err := tracer.Seize(former, true); !errors.Is(err, procfs.ErrGone) {
		t.Errorf("Seize says %v", err)
	}
	until(t, func() bool { traced, all := tracedThreads(t, pid); return traced == 0 && all > 0 })
	p.answers(t)
	if err := tracer.Seize(keyOf(t, pid), true); err != nil {
		t.Errorf("the one that has it now: %v", err)
	}
	p.in.Close()
	log.wait(t, fmt.Sprintf("gone %d exit 0", pid))
	if lines := log.all(); len(lines) != 2 {
		t.Errorf("told %q; want dying, gone", lines)
	}
}

func TestAStoppedProcessStaysStopped(t *testing.T) {
	stopped := func(pid int) bool { st, _ := procfs.StateOf(procRoot, pid); return st == 'T' || st == 't' }
	for name, leave := range map[string]func(*exec.Cmd){
		"until its tracer is killed": func(tracer *exec.Cmd) { tracer.Process.Kill() },
		"until its tracer leaves":    func(tracer *exec.Cmd) { tracer.Process.Signal(unix.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			p, pid := startPlain(t)
			unix.Kill(pid, unix.SIGSTOP)
			until(t, func() bool { return stopped(pid) })
			tracer := exec.Command(os.Args[0], "be-a-tracer", "seize", strconv.Itoa(pid))
			out, _ := tracer.StdoutPipe()
			if err := tracer.Start(); err != nil {
				t.Fatal(err)
			}
			bufio.NewReader(out).ReadString('\n')
			if traced, _ := tracedThreads(t, pid); traced != 1 || !stopped(pid) {
				t.Errorf("%d threads are traced; stopped: %v", traced, stopped(pid))
			}
			leave(tracer)
			tracer.Wait()
			fmt.Fprintln(p.in) // it would answer if it ran
			for range 100 {
				if traced, all := tracedThreads(t, pid); !stopped(pid) || traced > 0 || all == 0 {
					t.Fatalf("stopped: %v, %d of %d threads are traced", stopped(pid), traced, all)
				}
			}
			unix.Kill(pid, unix.SIGCONT)
			if line, err := p.out.ReadString('\n'); line != "lives\n" {
				t.Errorf("it says %q, %v", line, err)
			}
			p.in.Close()
		})
	}
}

// isHeld says that a thread of a process stands in a stop of its tracer's.
func isHeld(pid int) bool {
	tids, _ := procfs.Threads(procRoot, pid)
	for _, tid := range tids {
		if st, err := procfs.StateOf(procRoot, tid); err == nil && st == 't' {
			return true
		}
	}
	return false
}

// The second victim of a kill of many waits while the first is read, and the
// reaper waits for neither.
func TestALaterVictimHasOnlyWhatIsLeftOfItsTime(t *testing.T) {
	var began time.Time
	var deadlines []time.Time
	var pids []int
	tracer, log := newTracer(t, Options{}, func(d Death) {
		if deadlines = append(deadlines, d.Deadline); len(deadlines) > 1 {
			return
		}
		began = time.Now()
		for _, pid := range pids[1:] {
			unix.Kill(pid, unix.SIGKILL)
			until(t, func() bool { return isHeld(pid) })
		}
	})
	for range 3 {
		p := start(t, tracer, target, "stay")
		_, pid := p.ready(t)
		pids = append(pids, pid)
	}
	unix.Kill(pids[0], unix.SIGKILL)
	for _, pid := range pids {
		log.wait(t, fmt.Sprintf("gone %d signal 9", pid))
	}
	for i, at := range deadlines {
		if at.After(began.Add(HoldOOM)) {
			t.Errorf("victim %d may be held until %v after the first was", i, at.Sub(began))
		}
	}
}

// BenchmarkSeize is what it takes to follow a program that runs, by its threads.
func BenchmarkSeize(b *testing.B) {
	for _, n := range []int{5, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			cmd := exec.Command(target, "many", fmt.Sprint(n))
			out, _ := cmd.StdoutPipe()
			in, _ := cmd.StdinPipe()
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			lines := bufio.NewReader(out)
			lines.ReadString('\n')
			lines.ReadString('\n')
			key := keyOf(b, cmd.Process.Pid)
			for b.Loop() {
				tracer, err := NewTracer(Handler{}, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := tracer.Seize(key, true); err != nil {
					b.Fatal(err)
				}
				tracer.Close()
			}
			in.Close()
			cmd.Wait()
		})
	}
}
