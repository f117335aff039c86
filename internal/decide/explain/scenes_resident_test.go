package explain

import (
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// residentScenes are native memory whose page faults were sampled.
var residentScenes = map[string]func() *scene{
	"cgo leak by line": func() *scene {
		s := nativeScene()
		s.touched(222, 1200, 33, "sqlite3_prepare_v2", "example.org/shop/db.(*Cache).Prepare", "/build/shop/db/cache.go", 61)
		s.touched(6, 40, 29, "sqlite3_step", "example.org/shop/db.Query", "/build/shop/db/db.go", 44)
		s.touched(3, 12, 4, "", "example.org/shop/store.Open", "/build/shop/store/map.go", 20)
		return s
	},
	"cgo leak by few samples": func() *scene {
		s := nativeScene()
		s.touched(200, 64, 33, "keep", "example.org/shop/db.(*Cache).Prepare", "/build/shop/db/cache.go", 61)
		s.touched(20, 6, 33, "keep", "", "", 0)
		return s
	},
	"cgo leak before the watch": func() *scene {
		s := nativeScene()
		s.touched(60, 240, 33, "keep", "example.org/shop/db.(*Cache).Prepare", "/build/shop/db/cache.go", 61)
		return s
	},
	"memory mapped here and written there": func() *scene {
		s := nativeScene()
		s.touched(215, 900, 0, "", "example.org/shop/store.(*Index).Put", "/build/shop/store/index.go", 77)
		s.mapped("example.org/shop/store.newSlab", "/build/shop/store/slab.go", 19)
		s.touched(15, 60, 29, "sqlite3_step", "example.org/shop/db.Query", "/build/shop/db/db.go", 44)
		return s
	},
}

// mapped says at which line the memory was mapped that was written last.
func (s *scene) mapped(function, file string, line int) {
	s.Resident[len(s.Resident)-1].Mapped = []sample.Location{
		{Frames: []sample.Frame{{Func: "internal/runtime/syscall.Syscall6", File: "internal/runtime/syscall/asm_linux_amd64.s", Line: 36}}},
		{Frames: []sample.Frame{{Func: "syscall.Mmap", File: "syscall/syscall_unix.go", Line: 59}}},
		{Frames: []sample.Frame{{Func: function, File: file, Line: line}}},
		{Frames: []sample.Frame{{Func: "main.main", File: "/build/shop/main.go", Line: 20}}},
	}
}

func nativeScene() *scene {
	s := newScene()
	s.heap(4, 4, 6)
	s.native(235)
	s.killed()
	s.cycles(2, 3, 4, 4, 4, 4, 4)
	return s
}

// touched adds native memory, in MiB and samples, that a line wrote first, in a C function that it called.
func (s *scene) touched(v float64, samples uint64, wrapperLine int, c, function, file string, line int) {
	g := sample.ResidentGrowth{From: s.Start, At: s.Moment.At, Process: subject, Kind: sample.ResidentNative, Samples: samples, Bytes: bytesOf(v)}
	add := func(f sample.Frame) { g.Where = append(g.Where, sample.Location{Frames: []sample.Frame{f}}) }
	if c != "" {
		add(sample.Frame{Func: "malloc", File: "libc.so.6"})
		add(sample.Frame{Func: c, File: "shop"})
		add(sample.Frame{Func: "_cgo_1b2c_Cfunc_" + c, File: "shop"})
	}
	if function != "" && c != "" {
		add(sample.Frame{Func: "runtime.cgocall", File: "runtime/cgocall.go", Line: 167})
		add(sample.Frame{Func: "example.org/shop/db._Cfunc_" + c, File: "_cgo_gotypes.go", Line: wrapperLine})
	}
	if function != "" {
		add(sample.Frame{Func: function, File: file, Line: line})
		add(sample.Frame{Func: "main.main", File: "/build/shop/main.go", Line: 20})
	}
	s.Resident = append(s.Resident, g)
}

func TestALineOfNativeMemoryIsSureWithManySamplesThatExplainTheRow(t *testing.T) {
	for name, want := range map[string]Confidence{"cgo leak by line": High, "cgo leak by few samples": Medium, "cgo leak before the watch": Medium} {
		a := answer(t, name)
		k := a.Verdict.Culprit
		if a.Verdict.Class != Native || k == nil || k.Hint || k.Line != 61 || k.Bytes == 0 {
			t.Errorf("%s: %s, %+v", name, a.Verdict.Class, k)
		}
		if a.Verdict.Confidence != want {
			t.Errorf("%s: confidence %s, want %s (%s)", name, a.Verdict.Confidence, want, a.Verdict.Reasons)
		}
	}
}

func TestMemoryThatIsMappedByOneLineAndWrittenByAnotherIsPutDownToTheMapper(t *testing.T) {
	a := answer(t, "memory mapped here and written there")
	k, why := a.Verdict.Culprit, a.Verdict.Why[0].Text
	if k == nil || k.Line != 19 || k.Function != "example.org/shop/store.newSlab" || a.Verdict.Confidence != High {
		t.Errorf("%+v, %s", k, a.Verdict.Confidence)
	}
	if !strings.Contains(why, "mapped at store/slab.go:19, and first written at store/index.go:77") {
		t.Errorf("it says %q", why)
	}
	if fix := a.Fixes[0].Text; !strings.Contains(fix, "unmap what this call maps") {
		t.Errorf("the fix is %q", fix)
	}
}

func TestALibrarysMappingThatTheProgramWritesIsPutDownToTheProgram(t *testing.T) {
	s := nativeScene()
	s.touched(215, 900, 0, "", "example.org/shop/store.(*Index).Put", "/build/shop/store/index.go", 77)
	s.mapped("github.com/other/slab.New", "/mod/github.com/other/slab@v1.0.0/slab.go", 19)
	s.Resident[0].Mapped = s.Resident[0].Mapped[:3] // on a goroutine of its own
	if r := newCase(s.Evidence).residentOf(); r.Lines[0].Line != 77 || r.Lines[0].Mapped {
		t.Errorf("%+v", r.Lines[0])
	}
}

func TestLinesOfNativeMemoryAreScaledToTheRowWhereTheyExplainIt(t *testing.T) {
	near := answer(t, "cgo leak by line").Resident
	if near.TotalBytes < near.RowBytes-mib || near.TotalBytes > near.RowBytes {
		t.Errorf("the lines sum to %d, the row is %d", near.TotalBytes, near.RowBytes)
	}
	far := answer(t, "cgo leak before the watch").Resident
	if far.TotalBytes != 60*mib {
		t.Errorf("lines that explain a quarter of the row are scaled to %d", far.TotalBytes)
	}
	if got := strings.Join(near.Lines[0].Native, " "); got != "malloc sqlite3_prepare_v2" {
		t.Errorf("C's functions are %q", got)
	}
}

func TestMemoryThatAThreadOfCTouchedHasCsFunctionAndNoLine(t *testing.T) {
	s := nativeScene()
	s.touched(200, 640, 0, "rd_kafka_thread_main", "", "", 0)
	s.Resident[0].Where = append(s.Resident[0].Where[:2], sample.Location{Frames: []sample.Frame{{Func: "start_thread", File: "libc.so.6"}}})
	r := newCase(s.Evidence).residentOf()
	if len(r.Lines) != 1 || r.Lines[0].Function != "rd_kafka_thread_main" || r.Lines[0].File != "" {
		t.Errorf("lines %+v", r.Lines)
	}
}

func TestARunWithoutSamplesHasNoTableOfThem(t *testing.T) {
	if r := answer(t, "cgo leak").Resident; r != nil {
		t.Errorf("%+v", r)
	}
}

func littleNative() *scene {
	s := nativeScene()
	s.heap(230, 230, 235)
	s.native(4)
	s.charge()
	return s
}

// Why page faults were not sampled is worth a line where there is much native memory, and none else.
func TestWhyNoLinesOfNativeMemoryAreKnownIsSaidWhereThereIsMuchOfIt(t *testing.T) {
	for name, s := range map[string]*scene{"much": nativeScene(), "little": littleNative()} {
		s.Gaps = append(s.Gaps, sample.Gap{From: s.Start, Process: subject, What: sample.GapFaults, Why: "needs root, or CAP_BPF and CAP_PERFMON"})
		said := false
		for _, g := range answerOf(t, s).Gaps {
			said = said || g.What == sample.GapFaults
		}
		if said != (name == "much") {
			t.Errorf("%s native memory: said %v", name, said)
		}
	}
}
