package cgroup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func read(t *testing.T, c *cgroup.Cgroup) sample.Cgroup {
	t.Helper()
	var s sample.Cgroup
	if err := c.Read(&s); err != nil {
		t.Fatal(err)
	}
	if s.Stat == nil || s.Events == nil || !s.Peak.OK && c.Version() == 1 {
		t.Fatalf("not all was read: %+v, gaps %v", s, c.Gaps())
	}
	return s
}

func detect(t *testing.T) *cgroup.Hierarchy {
	t.Helper()
	h, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAProgramOverItsLimitIsKilledAndTheCountersSayWhoseLimitItWas(t *testing.T) {
	c := hwtest.Limit(t, 48*sample.MiB)
	before, err := c.Limits()
	if err != nil {
		t.Fatal(err)
	}
	hog := startHelper(t, os.Getuid())
	if err := c.Add(hog.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if hog.ask("touch", 96<<20) != "" {
		t.Fatal("it touched twice its limit and lives")
	}
	err = hog.Wait()
	if s, ok := hog.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Fatalf("it ended by itself: %v", err)
	}
	s := read(t, c)
	if s.Events.OOMKill == 0 || s.Events.Max == 0 {
		t.Errorf("events = %+v: no kill", s.Events)
	}
	if s.Limit != sample.Some(48*sample.MiB) || s.Peak.OK && s.Peak.V < 47*sample.MiB {
		t.Errorf("limit %v, peak %v", s.Limit, s.Peak)
	}
	after, err := c.Limits()
	if err != nil {
		t.Fatal(err)
	}
	own, ok := cgroup.Tightest(after)
	if !ok || own.Path != c.Path {
		t.Errorf("the tightest limit is %+v", own)
	}
	checkStruck(t, c.Version(), before, after)
}

// checkStruck fails unless the counter of the limit that struck grew at its own level alone.
func checkStruck(t *testing.T, version int, before, after []cgroup.Level) {
	t.Helper()
	if version == 1 {
		if after[0].Local.Max == before[0].Local.Max {
			t.Errorf("failcnt stayed at %d", after[0].Local.Max)
		}
		return
	}
	for i, l := range after {
		if l.Local == nil || before[i].Local == nil {
			continue // the root
		}
		grew := l.Local.OOM.V > before[i].Local.OOM.V
		if grew != (i == 0) {
			t.Errorf("level %s: oom grew: %v", l.Path, grew)
		}
	}
	if after[0].Local.OOM.V == 0 {
		t.Error("memory.events.local has no oom")
	}
}

func TestAKillIsCountedByTheNodeAsWell(t *testing.T) {
	c := hwtest.Limit(t, 32*sample.MiB)
	h := detect(t)
	before, ok := h.NodeOOMKills()
	if !ok {
		t.Fatal("no oom_kill in /proc/vmstat")
	}
	hog := startHelper(t, os.Getuid())
	if err := c.Add(hog.Process.Pid); err != nil {
		t.Fatal(err)
	}
	hog.ask("touch", 64<<20)
	hog.Wait()
	if after, _ := h.NodeOOMKills(); after <= before {
		t.Errorf("node's oom_kill was %d, is %d", before, after)
	}
}

func TestTheRowsOfALiveCgroupSumToItsCharge(t *testing.T) {
	c := hwtest.Limit(t, 0)
	hog := startHelper(t, os.Getuid())
	if err := c.Add(hog.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if hog.ask("touch", 40<<20) != "done" {
		t.Fatal("it died without a limit")
	}
	s := read(t, c)
	if s.Limit.OK {
		t.Errorf("limit = %v, want none", s.Limit.V)
	}
	if s.Stat.Anon < 40*sample.MiB {
		t.Errorf("anonymous = %d, the program touched 40 MiB", s.Stat.Anon)
	}
	rows := s.Stat.Anon + s.Stat.PageCache + s.Stat.Shmem + s.Stat.Kernel + s.Stat.Sock.Or(0)
	// The kernel's reserve: 64 pages a CPU, and statistics in batches of as many.
	if diff := int64(s.Usage) - int64(rows); diff < -4<<20 || diff > 4<<20 {
		t.Errorf("rows sum to %d, charge is %d: %+v", rows, s.Usage, s.Stat)
	}
	if path, err := detect(t).Find(hog.Process.Pid); err != nil || path != c.Path {
		t.Errorf("Find = %q, %v; want %q", path, err, c.Path)
	}
	if pids, err := c.Procs(); err != nil || !slices.Equal(pids, []int{hog.Process.Pid}) {
		t.Errorf("Procs = %v, %v; want %d", pids, err, hog.Process.Pid)
	}
}

func TestALimitCanBeRaisedLoweredAndTakenAway(t *testing.T) {
	c := hwtest.Limit(t, 64*sample.MiB)
	for _, limit := range []sample.Bytes{128 * sample.MiB, 32 * sample.MiB, 0, 48 * sample.MiB} {
		if err := c.SetLimit(limit); err != nil {
			t.Fatal(err)
		}
		want := sample.Opt[sample.Bytes]{V: limit, OK: limit != 0}
		if s := read(t, c); s.Limit != want {
			t.Errorf("SetLimit(%d): limit = %v", limit, s.Limit)
		}
	}
}

func TestRemoveKillsNothingAndWaitsForTheLastProcess(t *testing.T) {
	hwtest.Need(t, hwtest.Cgroup)
	c, err := detect(t).Create(cgroup.Options{Name: "remove"})
	if err != nil {
		t.Fatal(err)
	}
	hog := startHelper(t, os.Getuid())
	if err := c.Add(hog.Process.Pid); err != nil {
		t.Fatal(err)
	}
	// The program makes cgroups of its own.
	if err := os.Mkdir(filepath.Join(c.Dir, "nested"), 0o755); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Remove(over); !errors.Is(err, context.Canceled) {
		t.Errorf("Remove with a process in it = %v", err)
	}
	if err := hog.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("Remove killed it: %v", err)
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := c.Remove(ctx); err != nil { // the zombie is not in its way
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir); err == nil {
		t.Error("it is still there")
	}
	if err := hog.Wait(); !strings.Contains(err.Error(), "killed") {
		t.Errorf("the program ended with %v", err)
	}
}

func TestACgroupThatIsRemovedWhileItIsReadIsGone(t *testing.T) {
	c := hwtest.Limit(t, 0)
	watched, err := detect(t).Open(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Close()
	if err := watched.Remove(t.Context()); err == nil {
		t.Error("a cgroup that was only opened could be removed")
	}
	if err := watched.Kill(); err == nil {
		t.Error("the processes of a cgroup that was only opened could be killed")
	}
	if err := os.Remove(c.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := watched.ReadUsage(); !errors.Is(err, cgroup.ErrGone) {
		t.Errorf("ReadUsage = %v, want ErrGone", err)
	}
	var s sample.Cgroup
	if err := watched.Read(&s); !errors.Is(err, cgroup.ErrGone) {
		t.Errorf("Read = %v, want ErrGone", err)
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	c := hwtest.Limit(t, sample.GiB)
	s := read(t, c)
	if n := testing.AllocsPerRun(100, func() { c.Read(&s) }); n != 0 {
		t.Errorf("Read allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { c.ReadUsage() }); n != 0 {
		t.Errorf("ReadUsage allocates %v times", n)
	}
}

func BenchmarkRead(b *testing.B) {
	c := hwtest.Limit(b, 0)
	var s sample.Cgroup
	for b.Loop() {
		if err := c.Read(&s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadUsage(b *testing.B) {
	c := hwtest.Limit(b, 0)
	for b.Loop() {
		if _, err := c.ReadUsage(); err != nil {
			b.Fatal(err)
		}
	}
}
