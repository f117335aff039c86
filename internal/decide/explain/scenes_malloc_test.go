package explain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// mallocScenes are of what C's malloc says of itself.
var mallocScenes = map[string]func() *scene{
	"memory that malloc keeps": func() *scene {
		s := newScene()
		s.heap(4, 4, 6)
		s.native(230)
		s.killed()
		s.cycles(2, 3, 4, 4, 4, 4, 4)
		s.malloc(200, 30, 150, 1008)
		return s
	},
	"memory that the arenas of threads keep": func() *scene {
		s := newScene()
		s.heap(4, 4, 6)
		s.native(230)
		s.killed()
		s.cycles(2, 3, 4, 4, 4, 4, 4)
		s.malloc(200, 30, 40, 1008)
		s.p.Malloc.Top = 120 * mib
		for range 4 {
			s.p.Malloc.Arenas = append(s.p.Malloc.Arenas, sample.MallocArena{System: 60 * mib, InUse: 7 * mib, Free: 50 * mib, FreeResident: 50 * mib})
		}
		s.p.Malloc.Arenas[0].FreeResident = mib
		return s
	},
	"a cgo leak of one size": func() *scene {
		s := newScene()
		s.heap(4, 4, 6)
		s.native(235)
		s.killed()
		s.cycles(2, 3, 4, 4, 4, 4, 4)
		s.malloc(6, 229, 2, 20_016)
		s.Mallocs = []recording.MallocAt{{At: began.Add(time.Second), Malloc: sample.Malloc{Allocator: "glibc", InUse: mib,
			Sizes: []sample.MallocSize{{Size: 112, Count: 9000}}}}}
		return s
	},
	"C's allocator is another one": func() *scene {
		s := newScene()
		s.heap(4, 4, 6)
		s.native(235)
		s.killed()
		s.cycles(2, 3, 4, 4, 4, 4, 4)
		s.p.Malloc = &sample.Malloc{Allocator: "jemalloc",
			WhyNot: "highwater does not read jemalloc; MALLOC_CONF=stats_print:true prints its statistics when the program ends"}
		s.Mallocs = []recording.MallocAt{{At: s.Moment.At, Malloc: *s.p.Malloc}}
		return s
	},
	"two thousand locked threads": func() *scene {
		s := newScene()
		s.p.Residency.Mmap, s.p.Residency.CStacks, s.p.Residency.CStackCount = 17*mib, sample.Some(16*mib), sample.Some(uint64(2003))
		s.p.Residency.PageTables = 8 * mib
		s.p.Resident.Threads = 2004
		s.Moment.Cgroup.Stat.Kernel = 52 * mib
		s.charge()
		s.cycles(10, 9, 10, 9.5, 10)
		s.waiting("example.org/shop/pool.serve", "/build/shop/pool/pool.go", 30, 2000, "chan receive", 20)
		s.p.Goroutines[len(s.p.Goroutines)-1].Locked = sample.Some(2000)
		return s
	},
}

// malloc sets what malloc says, in MiB: kept and in memory, in use, whole pages of what is kept; all in use is
// of one size.
func (s *scene) malloc(kept, inUse, whole float64, size sample.Bytes) {
	n := uint64(bytesOf(inUse) / size)
	s.p.Malloc = &sample.Malloc{Allocator: "glibc", Blocks: n, InUse: bytesOf(inUse), Free: bytesOf(kept), FreeResident: bytesOf(kept), Whole: bytesOf(whole),
		System: bytesOf(kept + inUse),
		Arenas: []sample.MallocArena{{System: bytesOf(kept + inUse), InUse: bytesOf(inUse), Free: bytesOf(kept), FreeResident: bytesOf(kept)}},
		Sizes:  []sample.MallocSize{{Size: size, Count: n}}}
}

func answerOf(t *testing.T, s *scene) *Answer {
	t.Helper()
	a, err := Explain(s.Evidence, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFragmentationIsToldFromALeak(t *testing.T) {
	for name, want := range map[string]Class{"memory that malloc keeps": Fragmented, "memory that the arenas of threads keep": Fragmented,
		"a cgo leak of one size": Native, "C's allocator is another one": Native} {
		a := answerOf(t, mallocScenes[name]())
		if a.Verdict.Class != want {
			t.Errorf("%s: %s: %s", name, a.Verdict.Class, a.Verdict.Sentence)
		}
		frees := slices.ContainsFunc(a.Fixes, func(f Fix) bool { return strings.HasPrefix(f.Text, "free the memory") })
		if frees != (want == Native) {
			t.Errorf("%s: to free what C allocates: %v", name, frees)
		}
	}
}

func TestWhatMallocKeepsHasFixesThatFitIt(t *testing.T) {
	settings := func(name string) (out []string) {
		for _, f := range answerOf(t, mallocScenes[name]()).Fixes {
			if f.Setting != "" {
				out = append(out, f.Setting)
			}
		}
		return out
	}
	if got := settings("memory that malloc keeps"); got != nil {
		t.Errorf("in whole pages of one arena: %v", got)
	}
	if got := settings("memory that the arenas of threads keep"); !slices.Equal(got, []string{"MALLOC_ARENA_MAX=1", "MALLOC_TRIM_THRESHOLD_=131072"}) {
		t.Errorf("at the ends of several arenas: %v", got)
	}
}

func TestALeakNamesTheSizeOfItsBlocks(t *testing.T) {
	a := answerOf(t, mallocScenes["a cgo leak of one size"]())
	if !slices.ContainsFunc(a.Verdict.Why, func(w Why) bool {
		return strings.Contains(w.Text, "blocks of 20,016 bytes") && strings.Contains(w.Text, "all new since the first look")
	}) {
		t.Errorf("%+v", a.Verdict.Why)
	}
}

func TestTheRowsOfNativeAndKernelMemoryAreDivided(t *testing.T) {
	for name := range mallocScenes {
		for _, row := range answerOf(t, mallocScenes[name]()).Ledger.Rows {
			var sum sample.Bytes
			for _, p := range row.Parts {
				sum += p.Bytes
			}
			if len(row.Parts) > 0 && sum != row.Bytes {
				t.Errorf("%s: the parts of %s sum to %d of %d: %v", name, row.Name, sum, row.Bytes, row.Parts)
			}
		}
	}
	a := answerOf(t, mallocScenes["memory that malloc keeps"]())
	i := slices.IndexFunc(a.Ledger.Rows, func(r LedgerRow) bool { return r.Name == sample.RowNative })
	if want := (RowPart{PartKept, 200 * mib}); a.Ledger.Rows[i].Parts[0] != want {
		t.Errorf("parts %v", a.Ledger.Rows[i].Parts)
	}
	a = answerOf(t, mallocScenes["two thousand locked threads"]())
	i = slices.IndexFunc(a.Ledger.Rows, func(r LedgerRow) bool { return r.Name == sample.RowKernel })
	if want := (RowPart{PartKernelStacks, 2004 * kernelStack}); a.Ledger.Rows[i].Parts[0] != want {
		t.Errorf("parts %v", a.Ledger.Rows[i].Parts)
	}
}

func TestLockedThreadsAreNamedWithTheirLine(t *testing.T) {
	v := answerOf(t, mallocScenes["two thousand locked threads"]()).Verdict
	if v.Class != Goroutines || v.Culprit == nil || v.Culprit.Line != 30 || len(v.Why) == 0 || !strings.Contains(v.Why[0].Text, "2,000 goroutines were locked") {
		t.Errorf("%+v", v)
	}
}

func TestKernelMemoryOfAVersion2CgroupIsItsOwnCount(t *testing.T) {
	s := mallocScenes["two thousand locked threads"]()
	stat := s.Moment.Cgroup.Stat
	stat.KernelStack, stat.PageTables, stat.Slab = sample.Some(30*mib), sample.Some(9*mib), sample.Some(5*mib)
	c := newCase(s.Evidence)
	got := c.kernelParts(stat.Kernel)
	want := []RowPart{{PartKernelStacks, 30 * mib}, {PartPageTables, 9 * mib}, {PartSlab, 5 * mib}, {PartKernelRest, 8 * mib}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The peak was read while C code freed; what malloc kept of it stayed.
func TestAPeakThatWasReadWhileCFreedIsToldByTheLastLook(t *testing.T) {
	s := newScene()
	s.heap(4, 4, 6)
	s.native(230)
	s.charge()
	s.cycles(2, 3, 4, 4, 4, 4, 4)
	s.malloc(10, 220, 5, 1008)
	after := newScene()
	after.malloc(200, 30, 150, 1008)
	s.Mallocs = []recording.MallocAt{{At: s.Moment.At, Malloc: *s.p.Malloc}, {At: s.Moment.At.Add(time.Second), Malloc: *after.p.Malloc}}
	if a := answerOf(t, s); a.Verdict.Class != Fragmented {
		t.Errorf("%s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
	s.ended(0)
	s.Mallocs[1].At = s.End // what it had open it has closed by then
	if a := answerOf(t, s); a.Verdict.Class == Fragmented {
		t.Errorf("read at the end of the program: %s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
	s.Mallocs[1].At = s.Moment.At.Add(time.Second)
	s.Mallocs[1].FreeResident = 20 * mib // it gave the rest back
	if a := answerOf(t, s); a.Verdict.Class != Native {
		t.Errorf("given back: %s: %s", a.Verdict.Class, a.Verdict.Sentence)
	}
}

// Queries of SQLite that sort blobs take native memory and give it back, again and again. What malloc has at the kill was in
// use a moment before: more was written for the first time than there is, and malloc had returned it before.
func TestNativeMemoryThatComesAndGoesIsNoFragmentation(t *testing.T) {
	for name, c := range map[string]struct {
		written, keptBefore float64
		want                Class
	}{
		"given back and taken again":                {700, 20, Native},
		"written once":                              {235, 20, Fragmented},
		"kept all the time, while other memory ran": {700, 180, Fragmented},
	} {
		s := mallocScenes["memory that malloc keeps"]()
		s.touched(c.written, 2000, 33, "vdbePmaReadBlob", "example.org/shop/db.(*Reader).load", "/build/shop/db/read.go", 138)
		early := sample.Malloc{Allocator: "glibc", InUse: 30 * mib, System: 230 * mib, FreeResident: 180 * mib}
		late := early
		late.FreeResident = bytesOf(c.keptBefore)
		s.Mallocs = []recording.MallocAt{{At: s.Moment.At.Add(-2 * time.Second), Malloc: early}, {At: s.Moment.At.Add(-time.Second), Malloc: late},
			{At: s.Moment.At, Malloc: *s.p.Malloc}}
		a := answerOf(t, s)
		if a.Verdict.Class != c.want {
			t.Errorf("%s: %s, %s", name, a.Verdict.Class, a.Verdict.Sentence)
		}
		if c.want == Native && (a.Verdict.Culprit == nil || a.Verdict.Culprit.Line != 138 || !strings.Contains(a.Fixes[0].Text, "an index")) {
			t.Errorf("%s: %+v %+v", name, a.Verdict.Culprit, a.Fixes)
		}
	}
}
