package cli_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/hwtest"
	"github.com/highwater-go/highwater/internal/procfs"
)

// HIGHWATER_KILLS is how often the watcher is killed, 40 by default.
func kills(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("HIGHWATER_KILLS"))
	if os.Getenv("HIGHWATER_KILLS") != "" && err != nil {
		t.Fatalf("HIGHWATER_KILLS: %v", err)
	}
	if n == 0 {
		return 40
	}
	return n
}

// switches is how often the threads of a process have slept.
func switches(pid int) (sum int) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/status")
	for _, path := range files {
		b, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(b), "\nvoluntary_ctxt_switches:")
		line, _, _ := strings.Cut(rest, "\n")
		n, _ := strconv.Atoi(strings.TrimSpace(line))
		sum += n
	}
	return sum
}

// goesOn waits until a process has slept again, as one that ticks does soon.
func goesOn(pid, before int) bool {
	for range 3000 {
		if switches(pid) > before {
			return true
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
	return false
}

// The moments are random, from before the watcher has begun to when it samples.
func TestNoProgramIsHarmedByKillsOfItsWatcher(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	var programs []*stranger
	var pids []string
	for range 3 {
		// Nobody reads what it says: the pipe holds an hour of it.
		p := startStranger(t, exec.Command(testprog(t, "ticker"), "-for", "10m"))
		programs, pids = append(programs, p), append(pids, p.pid())
	}
	ways := [][]string{nil, {"--rate", "100"}, {"--heap", "every=1s"}, {"--enable-heap-profile"}}
	for i := range kills(t) {
		cmd := exec.Command(highwater(t), append(append([]string{"watch", "-q"}, ways[i%len(ways)]...), pids...)...)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		unix.Nanosleep(&unix.Timespec{Nsec: rand.Int64N(600e6)}, nil)
		cmd.Process.Kill()
		cmd.Wait()
		for _, p := range programs {
			pid := p.cmd.Process.Pid
			if before := switches(pid); !goesOn(pid, before) {
				t.Fatalf("kill %d: it runs no more", i)
			}
			tids, _ := procfs.Threads("/proc", pid)
			for _, tid := range tids {
				st, _ := procfs.StateOf("/proc", tid)
				if tracer, err := procfs.TracerOf("/proc", tid); err == nil && tracer != 0 || st == 't' || st == 'T' {
					t.Fatalf("kill %d: thread %d is in state %c, traced by %d", i, tid, st, tracer)
				}
			}
		}
	}
}
