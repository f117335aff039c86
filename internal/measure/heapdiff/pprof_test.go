package heapdiff

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestMain(m *testing.M) {
	runtime.MemProfileRate = 1024
	os.Exit(m.Run())
}

var kept [][]byte

//go:noinline
func keepSome(n int) {
	for range n {
		kept = append(kept, make([]byte, 700))
		kept = append(kept, bytes.Repeat([]byte("x"), 3000))
		churn(n)
	}
}

func churn(n int) { _ = strings.Repeat("y", 100*n) } // inlined

// ownProfile is this process's heap profile twice: as runtime/pprof writes it, and
// as counts and sites. Without a collection in between both are the same.
func ownProfile(t *testing.T) (*profile.Profile, Profile) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 10000)
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		t.Fatalf("%d records", n)
	}
	var out bytes.Buffer
	if err := pprof.WriteHeapProfile(&out); err != nil {
		t.Fatal(err)
	}
	theirs, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	ours := Profile{HeapProfile: &sample.HeapProfile{At: time.Now(), Rate: int64(runtime.MemProfileRate)}}
	for _, r := range records[:n] {
		if r.AllocObjects == 0 {
			continue
		}
		s := sample.Site{Size: sample.Bytes(r.AllocBytes / r.AllocObjects), Hidden: hidden(r.Stack())}
		for _, pc := range r.Stack()[:s.Hidden] {
			s.Stack = append(s.Stack, sample.Location{Address: uint64(pc)})
		}
		s.Stack = append(s.Stack, locations(r.Stack()[s.Hidden:])...)
		ours.Sites = append(ours.Sites, s)
		ours.Counts = append(ours.Counts, sample.BucketCounts{PubAllocs: uint64(r.AllocObjects), PubFrees: uint64(r.FreeObjects)})
	}
	return theirs, ours
}

// hidden is how many frames runtime/pprof leaves out: it asks for the function at
// the return address itself.
func hidden(stack []uintptr) int {
	for i, pc := range stack {
		if f := runtime.FuncForPC(pc); f == nil || !strings.HasPrefix(f.Name(), "runtime.") && !strings.HasPrefix(f.Name(), "internal/runtime/") {
			return i
		}
	}
	return 0
}

// locations puts calls inlined into one function into one location: all but the
// last of them have no Func.
func locations(stack []uintptr) []sample.Location {
	var out []sample.Location
	frames := runtime.CallersFrames(stack)
	fresh := true
	for {
		f, more := frames.Next()
		if f.Function == "" || f.Function == "runtime.goexit" {
			return out
		}
		if fresh {
			out = append(out, sample.Location{Address: uint64(f.PC)})
		}
		fresh = f.Func != nil
		last := &out[len(out)-1]
		last.Frames = append(last.Frames, sample.Frame{Func: f.Function, File: f.File, Line: f.Line})
		if !more {
			return out
		}
	}
}

// lines is a profile's samples below keepSome as text: stack, label, values; equal
// ones summed. Of others stacks of generic functions, or of more than 32 frames, are
// not the same in runtime.MemProfile's records.
func lines(p *profile.Profile) map[string][4]int64 {
	out := map[string][4]int64{}
	for _, s := range p.Sample {
		if slices.Max(s.Value) == 0 {
			continue
		}
		var b strings.Builder
		for _, l := range s.Location {
			for _, line := range l.Line {
				name, _, _ := strings.Cut(line.Function.Name, "[") // CallersFrames leaves type arguments out
				fmt.Fprintf(&b, "%s %s:%d;", name, line.Function.Filename, line.Line)
			}
			b.WriteByte('|')
		}
		if !strings.Contains(b.String(), "heapdiff.keepSome ") {
			continue
		}
		fmt.Fprint(&b, s.NumLabel)
		v := out[b.String()]
		for i := range v {
			v[i] += s.Value[i]
		}
		out[b.String()] = v
	}
	return out
}

func TestAProfileIsThatOfRuntimePprofSampleForSample(t *testing.T) {
	keepSome(200)
	theirs, ours := ownProfile(t)
	got := ToPprof(ours, sample.Program{Exe: "/srv/server", Go: &sample.GoProgram{BuildID: "abc"}}, Published, "made by a test")
	if err := got.CheckValid(); err != nil {
		t.Fatal(err)
	}
	want, have := lines(theirs), lines(got)
	if len(want) < 3 {
		t.Fatalf("only %d samples", len(want))
	}
	for s, v := range want {
		if have[s] != v {
			t.Errorf("%s\n got %v\nwant %v", s, have[s], v)
		}
	}
	if len(have) != len(want) {
		t.Errorf("%d samples, want %d", len(have), len(want))
	}
	for i, s := range theirs.SampleType {
		if *got.SampleType[i] != *s {
			t.Errorf("sample type %d is %v, want %v", i, got.SampleType[i], s)
		}
	}
	if got.Period != theirs.Period || *got.PeriodType != *theirs.PeriodType || got.DefaultSampleType != "inuse_space" || got.Mapping[0].BuildID != "abc" {
		t.Errorf("period %d %v, default %q, build %q", got.Period, got.PeriodType, got.DefaultSampleType, got.Mapping[0].BuildID)
	}
}

func TestGoToolPprofSubtractsTwoProfiles(t *testing.T) {
	sites := []sample.Site{
		{Size: 1 << 20, Hidden: 1, Stack: []sample.Location{at(0x401005, "runtime.makeslice"), at(0x402005, "main.grows"), at(0x40300a, "main.main")}},
		site(1<<20, at(0x404005, "main.stays"), at(0x40300a, "main.main")),
	}
	program := sample.Program{Exe: "/srv/server", Go: &sample.GoProgram{BuildID: "abc/def"}}
	write := func(name string, grows uint64, sites []sample.Site) string {
		p := Profile{sites, &sample.HeapProfile{Rate: 1, At: time.Unix(1, 0), Counts: []sample.BucketCounts{{PubAllocs: grows}, {PubAllocs: 9}}}}
		path := filepath.Join(t.TempDir(), name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := ToPprof(p, program, Published).Write(f); err != nil {
			t.Fatal(err)
		}
		return path
	}
	base, now := write("base.pb.gz", 4, sites[:2]), write("now.pb.gz", 36, sites)
	cmd := exec.Command("go", "tool", "pprof", "-top", "-nodecount=5", "-diff_base", base, now)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	if !strings.Contains(text, "Type: inuse_space") || !strings.Contains(text, "32MB") || !strings.Contains(text, "main.grows") {
		t.Errorf("no growth of 32 MB in\n%s", text)
	}
	if strings.Contains(text, "main.stays") || strings.Contains(text, "runtime.makeslice") {
		t.Errorf("what did not grow, or the runtime, is shown in\n%s", text)
	}
}

func BenchmarkHolders(b *testing.B) {
	var p Profile
	p.HeapProfile = &sample.HeapProfile{Rate: 524288}
	for i := range 1850 {
		var stack []sample.Location
		for d := range 25 {
			stack = append(stack, at(uint64(i*d), fmt.Sprintf("example.net/lib%d.F%d", d, i%(d+3))))
		}
		p.Sites = append(p.Sites, site(64, stack...))
		p.Counts = append(p.Counts, sample.BucketCounts{PubAllocs: uint64(i)})
	}
	b.ReportAllocs()
	for b.Loop() {
		Holders(p, nil, Published, "example.org/server")
	}
}
