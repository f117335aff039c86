package pull

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestMain(m *testing.M) {
	runtime.MemProfileRate = 8 << 10
	os.Exit(m.Run())
}

var kept [][]byte

// work allocates objects of many sizes, around the rate and far from it.
func work() {
	for _, size := range []int{24, 200, 3000, 8 << 10, 70000} {
		for range 40 + 400000/size {
			kept = append(kept, make([]byte, size))
		}
	}
	kept = kept[len(kept)/3:]
}

// own is this process's heap profile, as runtime/pprof writes it and as the
// runtime counts it. Nothing is collected in between.
func own(t *testing.T) (written []byte, records []runtime.MemProfileRecord) {
	t.Helper()
	work()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	runtime.GC()
	records = make([]runtime.MemProfileRecord, 20000)
	n, ok := runtime.MemProfile(records, true)
	var b bytes.Buffer
	if err := pprof.WriteHeapProfile(&b); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return b.Bytes(), records[:n]
}

func TestTheCountsOfAScaledProfileAreTheRuntimesOwn(t *testing.T) {
	written, records := own(t)
	p, err := ReadProfile(bytes.NewReader(written))
	if err != nil {
		t.Fatal(err)
	}
	if p.Scaled != "" || p.Rate != int64(runtime.MemProfileRate) || p.At.IsZero() || p.Program.Name() == "" {
		t.Fatalf("scaled %q, rate %d, at %s, of %q", p.Scaled, p.Rate, p.At, p.Program.Name())
	}
	want := map[sample.Bytes]sample.BucketCounts{}
	for _, r := range records {
		if r.AllocObjects > 0 {
			size := sample.Bytes(r.AllocBytes / r.AllocObjects)
			want[size] = plus(want[size], sample.BucketCounts{PubAllocs: uint64(r.AllocObjects), PubFrees: uint64(r.FreeObjects),
				NowAllocs: uint64(r.AllocObjects), NowFrees: uint64(r.FreeObjects)})
		}
	}
	got := map[sample.Bytes]sample.BucketCounts{}
	for i, c := range p.Counts {
		got[p.Sites[i].Size] = plus(got[p.Sites[i].Size], c)
	}
	if len(got) < 5 {
		t.Fatalf("only %d sizes", len(got))
	}
	for size, c := range got {
		if want[size] != c {
			t.Errorf("%d bytes: %+v, the runtime has %+v", size, c, want[size])
		}
	}
}

func TestAnyCountIsFoundFromItsScaledFigures(t *testing.T) {
	for _, rate := range []int64{1, 2, 512, 4096, 524288, 1 << 30} {
		for _, size := range []int64{1, 8, 24, 1000, 4095, 32768, 524288, 1 << 24, 1 << 33} {
			for _, count := range []int64{0, 1, 2, 3, 7, 100, 12345, 1 << 20} {
				if v := scale(count, size, rate); unscale(v.objects, size, rate) != count && scale(unscale(v.objects, size, rate), size, rate) != v {
					t.Errorf("rate %d, size %d: %d objects come back as %d", rate, size, count, unscale(v.objects, size, rate))
				}
			}
		}
	}
}

// changed is a profile of this process that something was done to.
func changed(t *testing.T, written []byte, change func(*profile.Profile)) []byte {
	t.Helper()
	p, err := profile.ParseData(written)
	if err != nil {
		t.Fatal(err)
	}
	change(p)
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFiguresThatOthersHaveChangedAreKeptAndSaidToBe(t *testing.T) {
	written, _ := own(t)
	for name, c := range map[string]struct {
		change func(*profile.Profile)
		why    string
	}{
		"without sizes": {func(p *profile.Profile) {
			for _, s := range p.Sample {
				s.NumLabel = nil
			}
		}, "sizes"},
		"without a rate":   {func(p *profile.Profile) { p.Period = 0 }, "rate"},
		"with another one": {func(p *profile.Profile) { p.Period = 300 }, "every 300 bytes"},
		"multiplied": {func(p *profile.Profile) {
			for _, s := range p.Sample {
				for i := range s.Value {
					s.Value[i] = s.Value[i] * 3 / 2
				}
			}
		}, "not those of a Go program"},
	} {
		p, err := ReadProfile(bytes.NewReader(changed(t, written, c.change)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(p.Scaled, c.why) || p.Rate != 0 {
			t.Errorf("%s: scaled %q, rate %d", name, p.Scaled, p.Rate)
		}
		var held sample.Bytes
		for i, n := range p.Counts {
			held += p.Sites[i].Size * sample.Bytes(n.PubAllocs-n.PubFrees)
		}
		if whole := sample.Bytes(p.InUse); held < whole-whole/20 || held > whole+whole/20 {
			t.Errorf("%s: %d bytes in use became %d", name, whole, held)
		}
	}
}

func TestAProfileWithoutCompressionIsTheSame(t *testing.T) {
	written, _ := own(t)
	z, err := gzip.NewReader(bytes.NewReader(written))
	if err != nil {
		t.Fatal(err)
	}
	var plain bytes.Buffer
	if _, err := plain.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	a, errA := ReadProfile(bytes.NewReader(written))
	b, errB := ReadProfile(&plain)
	if errA != nil || errB != nil || a.InUse != b.InUse || len(a.Sites) != len(b.Sites) {
		t.Errorf("%v, %v: %+v, %+v", errA, errB, a, b)
	}
}

func TestWhatIsNoHeapProfileIsRefusedByName(t *testing.T) {
	written, _ := own(t)
	var cpu, goroutines, text bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		t.Fatal(err)
	}
	pprof.StopCPUProfile()
	_ = pprof.Lookup("goroutine").WriteTo(&goroutines, 0)
	_ = pprof.Lookup("heap").WriteTo(&text, 1)
	for name, c := range map[string]struct {
		data []byte
		want error
		says string
	}{
		"nothing":              {nil, ErrEmpty, ""},
		"a CPU profile":        {cpu.Bytes(), ErrOtherKind, "one of CPU time"},
		"goroutines":           {goroutines.Bytes(), ErrOtherKind, "one of goroutines"},
		"a page":               {[]byte("<!DOCTYPE html><html><body>404"), ErrNotProfile, "HTML"},
		"words":                {[]byte("no profile at all"), ErrNotProfile, ""},
		"cut":                  {written[:len(written)/2], ErrCutProfile, ""},
		"cut in the header":    {written[:6], ErrCutProfile, ""},
		"spoilt":               {append(append([]byte{}, written[:40]...), bytes.Repeat([]byte{7}, 400)...), ErrNotProfile, ""},
		"addresses, as text":   {text.Bytes(), ErrNoSymbols, "debug=1"},
		"the growth in a time": {changed(t, written, func(p *profile.Profile) { p.DurationNanos = 5e9 }), ErrDifference, ""},
		"a difference":         {changed(t, written, func(p *profile.Profile) { p.Sample[0].Value = []int64{-1, -8192, -1, -8192} }), ErrDifference, ""},
	} {
		p, err := ReadProfile(bytes.NewReader(c.data))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

func FuzzReadProfile(f *testing.F) {
	runtime.GC()
	var b bytes.Buffer
	_ = pprof.WriteHeapProfile(&b)
	f.Add(b.Bytes())
	if z, err := gzip.NewReader(&b); err == nil {
		var plain bytes.Buffer
		_, _ = plain.ReadFrom(z)
		f.Add(plain.Bytes())
	}
	f.Add([]byte("heap profile: 1: 8 [2: 16] @ heap/524288\n1: 8 [2: 16] @ 0x401000\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		p, err := ReadProfile(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(p.Sites) != len(p.Counts) {
			t.Errorf("%d sites, %d counts", len(p.Sites), len(p.Counts))
		}
		ModuleOf(p.Sites)
		var s Series
		if step, err := s.Add(p); err != nil || !step.Restarted || len(step.Sites) != len(step.Profile.Counts) {
			t.Errorf("%+v, %v", step, err)
		}
	})
}
