package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Shared memory may be most of a small program: far from the limit it is a cause where it grows, and else what the program has.
func TestSharedMemoryThatStaysTheSameIsNoCause(t *testing.T) {
	for name, course := range map[string]func(part float64) float64{
		"the same":  func(float64) float64 { return 1 },
		"set up":    func(part float64) float64 { return min(1, 20*part) },
		"it grows":  func(part float64) float64 { return part },
		"not known": nil,
	} {
		s := newScene()
		s.heap(4, 4, 8)
		s.Moment.Cgroup.Stat.Shmem = 60 * mib
		s.charge()
		s.cycles(10, 3, 4, 3.5, 4, 3, 4)
		if s.Ticks.Shmem = nil; course != nil {
			end := s.Ticks.At[len(s.Ticks.At)-1]
			for _, at := range s.Ticks.At {
				s.Ticks.Shmem = append(s.Ticks.Shmem, float64(60*mib)*course(at/end))
			}
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		if (a.Verdict.Class == Shmem) != (name == "it grows") {
			t.Errorf("%s: %s: %s", name, a.Verdict.Class, a.Verdict.Sentence)
		}
	}
}

// A mapping that is shared without a file has no path that a user knows.
func TestSharedMemoryWithoutAFileIsNamedAsThat(t *testing.T) {
	h := FileHolder{Path: "/dev/*", Kind: string(sample.FileShm), Count: 7, Bytes: 7 * mib}
	if got, want := h.words(), "shared memory without a file (7 mappings, 7.0 MiB)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := countsUntil([]FileHolder{h}); !strings.HasSuffix(got, "until its last mapping is gone") {
		t.Error(got)
	}
	if got := countsUntil([]FileHolder{{Path: "/dev/shm/a", Kind: string(sample.FileTmpfs)}}); !strings.HasSuffix(got, "until it is deleted") {
		t.Error(got)
	}
	for want, h := range map[string]FileHolder{
		"shared memory without a file": {Path: "/dev/*", Kind: string(sample.FileShm), Deleted: true},
		"/srv/a.log (deleted)":         {Path: "/srv/a.log", Kind: string(sample.FileCache), Deleted: true},
		"/memfd:ring":                  {Path: "/memfd:ring", Kind: string(sample.FileMemfd), Deleted: true},
	} {
		if got := h.name(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The line that mapped half of the shared memory or more, or wrote it first, is the one to change. A line that a
// few of its page faults were on is not, as where most was written by write(2).
func TestSharedMemoryHasTheLineThatMappedIt(t *testing.T) {
	for seen, named := range map[sample.Bytes]bool{58 * mib: true, 20 * mib: false, 0: false} {
		s := newScene()
		s.heap(4, 4, 8)
		s.Moment.Cgroup.Stat.Shmem = 60 * mib
		s.charge()
		s.cycles(10, 3, 4, 3.5, 4, 3, 4)
		end := s.Ticks.At[len(s.Ticks.At)-1]
		for _, at := range s.Ticks.At {
			s.Ticks.Shmem = append(s.Ticks.Shmem, float64(60*mib)*at/end)
		}
		if seen > 0 {
			s.Resident = []sample.ResidentGrowth{{Process: s.Subject, Kind: sample.ResidentShared, Samples: 240, Bytes: seen,
				Where:  []sample.Location{{Frames: []sample.Frame{{Func: "main.fill", File: "/src/shop/ring.go", Line: 40}}}},
				Mapped: []sample.Location{{Frames: []sample.Frame{{Func: "main.newRing", File: "/src/shop/ring.go", Line: 12}}}}}}
		}
		a, err := Explain(s.Evidence, nil)
		if err != nil {
			t.Fatal(err)
		}
		k := a.Verdict.Culprit
		if a.Verdict.Class != Shmem || (k != nil && k.Function == "main.newRing" && k.Line == 12) != named || (k != nil) != named {
			t.Fatalf("%v seen: %s at %+v: %s", seen, a.Verdict.Class, k, a.Verdict.Sentence)
		}
		if named && (!strings.Contains(a.Verdict.Why[0].Text, "of the shared memory was mapped at shop/ring.go:12, and first written at shop/ring.go:40 (240 samples") ||
			!strings.HasPrefix(a.Fixes[0].Text, "ring.go:12: unmap what this call maps")) {
			t.Errorf("%+v\n%+v", a.Verdict.Why[0], a.Fixes[0])
		}
	}
}
