package cli_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
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

// served is a server and whoever asks it without a pause for longer than a millisecond.
type served struct {
	*stranger
	address string
	answers atomic.Int64
	failed  chan error // holds the first
}

// startServed starts a server under load until ctx ends.
func startServed(t *testing.T, ctx context.Context, clients *sync.WaitGroup) *served {
	t.Helper()
	s := &served{stranger: startStranger(t, exec.Command(testprog(t, "counting"), "-for", "3h", "-garbage", "64KiB", "-keep", "1KiB", "-max", "4MiB")),
		failed: make(chan error, 1)}
	if !s.lines.Scan() {
		t.Fatal(s.lines.Err())
	}
	words := strings.Fields(s.lines.Text())
	s.address = "http://" + strings.TrimPrefix(words[len(words)-1], "http://")
	clients.Go(func() {
		for ctx.Err() == nil {
			if err := s.ask(); err != nil {
				s.failed <- err
				return
			}
			s.answers.Add(1)
			unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
		}
	})
	return s
}

// ask asks once.
func (s *served) ask() error {
	client := http.Client{Timeout: patience}
	got, err := client.Get(s.address)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if text, err := io.ReadAll(got.Body); err != nil || string(text) != "done\n" {
		return fmt.Errorf("status %s, %q: %w", got.Status, text, err)
	}
	return nil
}

// unharmed says what is wrong with a server: it answers, and nothing of it is traced or
// stopped.
func (s *served) unharmed() error {
	before := s.answers.Load()
	for s.answers.Load() == before {
		select {
		case err := <-s.failed:
			return err
		default:
			unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
		}
	}
	tids, _ := procfs.Threads("/proc", s.cmd.Process.Pid)
	for _, tid := range tids {
		st, _ := procfs.StateOf("/proc", tid)
		if tracer, err := procfs.TracerOf("/proc", tid); err == nil && tracer != 0 || st == 't' || st == 'T' {
			return fmt.Errorf("thread %d is in state %c, traced by %d", tid, st, tracer)
		}
	}
	return nil
}

// The moments are random, from before the watcher has begun to when it samples.
func TestNoProgramIsHarmedByKillsOfItsWatcher(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	var servers []*served
	var pids []string
	for range 10 {
		s := startServed(t, ctx, &clients)
		servers, pids = append(servers, s), append(pids, s.pid())
	}
	ways := [][]string{nil, {"--rate", "100"}, {"--heap", "every=1s"}, {"--enable-heap-profile"}}
	for i := range kills(t) {
		cmd := exec.Command(highwater(t), append(append([]string{"watch", "-q"}, ways[i%len(ways)]...), pids...)...)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		unix.Nanosleep(&unix.Timespec{Nsec: rand.Int64N(1500e6)}, nil)
		cmd.Process.Kill()
		cmd.Wait()
		for _, s := range servers {
			if err := s.unharmed(); err != nil {
				t.Fatalf("kill %d, %s: %v", i, s.pid(), err)
			}
		}
	}
	answers := int64(0)
	for _, s := range servers {
		answers += s.answers.Load()
	}
	t.Logf("%d kills, %d answers, none failed", kills(t), answers)
}
