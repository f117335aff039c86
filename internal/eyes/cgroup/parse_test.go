package cgroup

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestMountsOfTheMemoryControllerAreFoundBestFirst(t *testing.T) {
	const (
		v2      = "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		hybrid  = "31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		memory  = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		joint   = `36 31 0:33 / /cg/with\040space rw master:1 propagate_from:2 - cgroup cgroup rw,cpuset,memory` + "\n"
		cpu     = "37 31 0:34 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		inside  = "38 31 0:35 /docker/c1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
		garbage = "39\n - cgroup\n\x00\n"
	)
	for _, c := range []struct {
		text string
		want []mount
	}{
		{"", nil},
		{cpu + garbage, nil},
		{v2, []mount{{2, "/", "/sys/fs/cgroup"}}},
		{hybrid + memory, []mount{{1, "/", "/sys/fs/cgroup/memory"}, {2, "/", "/sys/fs/cgroup/unified"}}},
		{joint, []mount{{1, "/", "/cg/with space"}}},
		{inside + memory, []mount{{1, "/", "/sys/fs/cgroup/memory"}, {1, "/docker/c1", "/sys/fs/cgroup/memory"}}},
	} {
		if got := parseMounts(c.text); !slices.Equal(got, c.want) {
			t.Errorf("parseMounts(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}

func TestAVersion2WithoutTheMemoryControllerDoesNotCount(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"proc/self/mountinfo":              "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"sys/fs/cgroup/cgroup.controllers": "cpu io\n",
	} {
		os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755)
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Detect(root); !errors.Is(err, ErrNoMemory) {
		t.Errorf("Detect = %v", err)
	}
}

func TestAPathIsTakenRelativeToThePartThatIsMounted(t *testing.T) {
	h := &Hierarchy{Version: 1, Mount: "/sys/fs/cgroup/memory", Base: "/docker/c1"}
	for _, c := range []struct{ path, want string }{
		{"/docker/c1", "/sys/fs/cgroup/memory"},
		{"/docker/c1/sub", "/sys/fs/cgroup/memory/sub"},
		{"/sys/fs/cgroup/memory/sub", "/sys/fs/cgroup/memory/sub"},
		{"/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory"},
		{"/docker/c12", ""},
		{"/", ""},
	} {
		got, err := h.dir(h.clean(c.path))
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("dir(%s) = %q, %v; want %q", c.path, got, err, c.want)
		}
	}
}

func TestNumbersAreReadToTheirLastBitAndNoFurther(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
		ok   bool
	}{
		{"0\n", 0, true},
		{"18446744073709551615\n", math.MaxUint64, true},
		{"max\n", math.MaxUint64, true},
		{"7", 7, true},
		{"18446744073709551616\n", 0, false},
		{"99999999999999999999999\n", 0, false},
		{"-1\n", 0, false},
		{"1 2\n", 0, false},
		{"\n", 0, false},
		{"", 0, false},
	} {
		if got, ok := parseUint([]byte(c.text)); got != c.want || ok != c.ok {
			t.Errorf("parseUint(%q) = %d, %v", c.text, got, ok)
		}
	}
	// On 4 KiB and 64 KiB pages.
	for _, none := range []sample.Bytes{9223372036854771712, 0x7fffffffffff0000, math.MaxUint64} {
		if withoutNoLimit(some(none)).OK {
			t.Errorf("%d is a limit", none)
		}
	}
}

func TestKernelMemoryIsSummedWhereTheKernelDoesNotSumIt(t *testing.T) {
	// The rows of Linux 5.10 that are read.
	const old = "anon 100\nfile 70\nkernel_stack 1\npagetables 2\npercpu 4\nsock 8\nshmem 30\nfile_dirty 3\nfile_writeback 5\n" +
		"inactive_file 11\nactive_file 12\nslab_reclaimable 10\nslab_unreclaimable 6\nslab 16\nworkingset_refault_anon 1\n" +
		"workingset_refault_file 2\npgscan 9\npgmajfault 13\n"
	want := sample.CgroupStat{
		Anon: 100, PageCache: 40, Shmem: 30, Kernel: 23, Sock: some(8), ActiveFile: 12, InactiveFile: 11, Dirty: 3, Writeback: 5,
		KernelStack: some(1), PageTables: some(2), Slab: some(16), MajorFaults: 13, Refaults: count(3), Scanned: count(9),
	}
	var s sample.CgroupStat
	if err := parseStatV2(&s, []byte(old)); err != nil || !reflect.DeepEqual(s, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, s, want)
	}
	if err := parseStatV2(&s, []byte(old+"kernel 24\nvmalloc 50\n")); err != nil || s.Kernel != 24 {
		t.Errorf("with a row of its own: %v, kernel %d", err, s.Kernel)
	}
}

func TestAStatWithoutItsMainRowsIsRefused(t *testing.T) {
	var s sample.CgroupStat
	var e sample.CgroupEvents
	for _, text := range []string{"", "anon 1\n", "file 1\n", "total_cache 1\n", "cache 1\nrss 1\n", "anon x\nfile 1\n"} {
		if parseStatV2(&s, []byte(text)) == nil || parseStatV1(&s, []byte(text)) == nil || parseEvents(&e, []byte(text)) == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestNamesOfRunsAreReadBackAndOthersAreNot(t *testing.T) {
	for _, c := range []struct {
		name string
		want owner
		ok   bool
	}{
		{"highwater-12-345-0a1b2c3d", owner{12, 345, "0a1b2c3d", false}, true},
		{"highwater-12-345-0a1b2c3d-my-server-2", owner{12, 345, "0a1b2c3d", false}, true},
		{"highwater-12-345-0a1b2c3d-watcher", owner{12, 345, "0a1b2c3d", true}, true},
		{"highwater-12-345", owner{}, false},
		{"highwater-x-345-0a1b2c3d", owner{}, false},
		{"highwater--345-0a1b2c3d", owner{}, false},
		{"highwater-0-345-0a1b2c3d", owner{}, false},
		{"highwater.service", owner{}, false},
		{"", owner{}, false},
	} {
		got, ok := parseName(c.name)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("parseName(%s) = %+v, %v", c.name, got, ok)
		}
	}
	if got := plain("a/b c.é_" + strings.Repeat("x", 50)); len(got) != 40 || strings.ContainsAny(got, "/ é") {
		t.Errorf("plain = %q", got)
	}
}

func TestAScopeCarriesTheLimitAndForbidsSwap(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "systemd-run"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	h := &Hierarchy{Version: 2, root: "/"}
	args, err := h.Scope(Options{Name: "server", Limit: 64 * sample.MiB})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--user", "--scope", "--property=MemoryMax=67108864", "--property=MemorySwapMax=0"} {
		if !slices.Contains(args, want) {
			t.Errorf("%v lacks %s", args, want)
		}
	}
	if args[len(args)-1] != "--" {
		t.Errorf("%v does not end the options", args)
	}
	if _, err := (&Hierarchy{Version: 1, root: "/"}).Scope(Options{}); !errors.Is(err, ErrNotPermitted) {
		t.Errorf("version 1: %v", err)
	}
}

// seeds adds the files of the fixtures.
func seeds(f *testing.F) {
	for _, name := range []string{"v1.txtar", "v2.txtar"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		for part := range bytes.SplitSeq(b, []byte("-- ")) {
			f.Add(part)
		}
	}
}

// Whatever the kernel's files hold, the rows are disjoint parts or an error, and what one parser takes is read again the
// same.
func FuzzAccount(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range []func(*sample.CgroupStat, []byte) error{parseStatV1, parseStatV2} {
			var s, again sample.CgroupStat
			s.Anon, s.Sock = 1, some(1) // left by the tick before
			if parse(&s, b) != nil {
				continue
			}
			if parse(&again, b) != nil || s != again {
				t.Errorf("%+v, then %+v", s, again)
			}
		}
		var e, again sample.CgroupEvents
		e.Max = 1
		if parseEvents(&e, b) == nil && (parseEvents(&again, b) != nil || e != again) {
			t.Errorf("%+v, then %+v", e, again)
		}
	})
}

// What is found in /proc is a path, whatever the file holds.
func FuzzTree(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range parseMounts(string(b)) {
			if m.version != 1 && m.version != 2 {
				t.Errorf("version %d", m.version)
			}
		}
		for version := 1; version <= 2; version++ {
			if path, ok := parseMembership(string(b), version); ok && !strings.HasPrefix(path, "/") {
				t.Errorf("path %q", path)
			}
		}
		if o, ok := parseName(string(b)); ok && o.pid <= 0 {
			t.Errorf("pid %d", o.pid)
		}
	})
}
