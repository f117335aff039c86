package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// system unpacks a recorded system, files behind lines "-- name --", and gives
// the directory that is its root.
func system(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, part := range strings.Split("\n"+string(b), "\n-- ")[1:] {
		name, text, ok := strings.Cut(part, " --\n")
		if !ok {
			name, text = strings.TrimSuffix(part, " --"), ""
		}
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func some(n sample.Bytes) sample.Opt[sample.Bytes] { return sample.Some(n) }

func count(n uint64) sample.Opt[uint64] { return sample.Some(n) }

func TestFixturesOfBothVersionsGiveTheSameAccount(t *testing.T) {
	for _, c := range []struct {
		fixture, mount string
		version, pid   int
		path           string
		want           sample.Cgroup
	}{{
		fixture: "v1.txtar", version: 1, mount: "sys/fs/cgroup/memory", pid: 70, path: "/docker/c1/inner",
		want: sample.Cgroup{
			Usage: 22626304, Peak: some(67358720),
			Stat: &sample.CgroupStat{
				Anon: 208896, PageCache: 20979712, Kernel: 1609728, InactiveFile: 20979712, Dirty: 8192, Refaults: count(61),
			},
			Events: &sample.CgroupEvents{OOMKill: 1},
		},
	}, {
		fixture: "v2.txtar", version: 2, mount: "sys/fs/cgroup", pid: 93, path: "/kubepods/pod",
		want: sample.Cgroup{
			Usage: 66433024, Peak: some(67108864), Limit: some(64 * sample.MiB),
			Stat: &sample.CgroupStat{
				Anon: 81920, Shmem: 65789952, Kernel: 286720, Sock: some(0), KernelStack: some(16384), PageTables: some(20480),
				Slab: some(209816), Refaults: count(0), Scanned: count(0),
			},
			Events: &sample.CgroupEvents{Max: 35, OOM: count(1), OOMKill: 1},
		},
	}} {
		root := system(t, c.fixture)
		h, err := Detect(root)
		if err != nil {
			t.Fatal(err)
		}
		if h.Version != c.version || h.Mount != filepath.Join(root, c.mount) {
			t.Errorf("%s: version %d at %s", c.fixture, h.Version, h.Mount)
		}
		path, err := h.Find(c.pid)
		if err != nil || path != c.path {
			t.Errorf("%s: Find = %q, %v", c.fixture, path, err)
		}
		g, err := h.Open(c.path)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		var got sample.Cgroup
		if err := g.Read(&got); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: Read: %v\ngot  %+v %+v %+v\nwant %+v %+v %+v", c.fixture, err,
				got, got.Stat, got.Events, c.want, c.want.Stat, c.want.Events)
		}
		if gaps := g.Gaps(); len(gaps) > 0 {
			t.Errorf("%s: gaps %v", c.fixture, gaps)
		}
		if other, err := h.Open(filepath.Join(h.Mount, c.path)); err != nil || other.Path != c.path {
			t.Errorf("%s: opened by its directory: %v, %v", c.fixture, other, err)
		}
	}
}

func TestTheLevelsTellWhoseLimitStruck(t *testing.T) {
	h, err := Detect(system(t, "v2.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	levels := limits(t, h, "/kubepods/pod")
	if len(levels) != 3 || levels[0].Path != "/kubepods/pod" || levels[1].Path != "/kubepods" || levels[2].Path != "/" {
		t.Fatalf("levels = %+v", levels)
	}
	if levels[0].Local.OOM != count(1) || levels[1].Local.OOM != count(0) || levels[1].Events.OOM != count(1) {
		t.Errorf("oom: %v, %v, %v", levels[0].Local, levels[1].Local, levels[1].Events)
	}
	if levels[1].Limit != some(128*sample.MiB) || levels[2].Limit.OK || levels[2].Usage.OK {
		t.Errorf("levels = %+v", levels)
	}
	if l, ok := Tightest(levels); !ok || l.Path != "/kubepods/pod" {
		t.Errorf("tightest = %+v", l)
	}
	if n, ok := h.NodeOOMKills(); n != 1 || !ok {
		t.Errorf("NodeOOMKills = %d, %v", n, ok)
	}
}

func TestInVersion1TheKillIsCountedAtTheVictimAndTheLimitAtItsOwner(t *testing.T) {
	h, err := Detect(system(t, "v1.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	levels := limits(t, h, "/docker/c1/inner")
	inner, c1 := levels[0], levels[1]
	if inner.Local.OOMKill != 1 || inner.Local.Max != 0 || c1.Local.OOMKill != 0 || c1.Local.Max != 5452 {
		t.Errorf("inner %+v, c1 %+v", inner.Local, c1.Local)
	}
	if l, ok := Tightest(levels); !ok || l.Path != "/docker/c1" || l.Limit.V != 64*sample.MiB {
		t.Errorf("tightest = %+v", l)
	}
	if _, ok := Tightest(levels[:1]); ok {
		t.Error("a cgroup without a limit has a tightest one")
	}
	if _, ok := h.NodeOOMKills(); ok {
		t.Error("NodeOOMKills without /proc/vmstat")
	}
}

func limits(t *testing.T, h *Hierarchy, path string) []Level {
	t.Helper()
	c, err := h.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	levels, err := c.Limits()
	if err != nil {
		t.Fatal(err)
	}
	return levels
}

func TestWhatAnOlderKernelDoesNotTellIsAGapAndNoZero(t *testing.T) {
	root := system(t, "v2.txtar")
	for _, name := range []string{"memory.peak", "memory.events"} {
		if err := os.Remove(filepath.Join(root, "sys/fs/cgroup/kubepods/pod", name)); err != nil {
			t.Fatal(err)
		}
	}
	h, err := Detect(root)
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Open("/kubepods/pod")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := sample.Cgroup{Peak: some(1), Events: &sample.CgroupEvents{}}
	if err := c.Read(&got); err != nil || got.Peak.OK || got.Events != nil || got.Stat == nil {
		t.Errorf("Read: %v, %+v", err, got)
	}
	if len(c.Gaps()) != 2 {
		t.Errorf("gaps = %v", c.Gaps())
	}
}

func TestWhatCannotBeOpenedIsRefusedWithItsReason(t *testing.T) {
	h, err := Detect(system(t, "v2.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/none", "/kubepods/../none"} {
		if _, err := h.Open(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open(%s) = %v", path, err)
		}
	}
	if _, err := h.Find(999); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find of no process = %v", err)
	}
	if path, err := h.Find(94); err != nil || path != "/kubepods/gone (deleted)" {
		t.Errorf("Find of a process in a removed cgroup = %q, %v", path, err)
	}
	if _, err := Detect(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Detect without /proc = %v", err)
	}
}
