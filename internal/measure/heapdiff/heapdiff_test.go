package heapdiff

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestCountsAreScaledAsTheRuntimeScalesThem(t *testing.T) {
	for _, c := range []struct {
		count int64
		size  sample.Bytes
		rate  int64
		want  Amount
	}{
		{0, 64, 524288, Amount{}},
		{5, 0, 524288, Amount{}},
		{7, 64, 1, Amount{7, 448}},
		{7, 64, 0, Amount{7, 448}},
		{400, 64, 524288, Amount{3277000, 209728000}}, // 25,600 bytes in samples that stand for 200 MiB
		{1, 50 << 20, 524288, Amount{1, 50 << 20}},
		{-400, 64, 524288, Amount{-3277000, -209728000}},
	} {
		if got := Scale(c.count, c.size, c.rate); got != c.want {
			t.Errorf("Scale(%d, %d, %d) = %v, want %v", c.count, c.size, c.rate, got, c.want)
		}
	}
}

// The estimate's spread over many simulated programs is the error that is told.
func TestTheErrorIsTheSpreadOfTheEstimate(t *testing.T) {
	const size, rate, objects, trials = 4096, 64 << 10, 2000, 2000
	rng := rand.New(rand.NewPCG(3, 4))
	p := 1 - math.Exp(-float64(size)/rate)
	var sum, squares, told float64
	for range trials {
		n := int64(0)
		for range objects {
			if rng.Float64() < p {
				n++
			}
		}
		bytes := float64(Scale(n, size, rate).Bytes)
		sum += bytes
		squares += bytes * bytes
		told += Error(n, size, rate) / trials
	}
	mean := sum / trials
	spread := math.Sqrt(squares/trials - mean*mean)
	if math.Abs(mean/(objects*size)-1) > 0.02 {
		t.Errorf("mean %.0f, want %d", mean, objects*size)
	}
	if math.Abs(told/spread-1) > 0.1 {
		t.Errorf("error %.0f, spread %.0f", told, spread)
	}
	if Error(5, 64, 1) != 0 {
		t.Error("a profile of every allocation has an error")
	}
}

func TestAFunctionBelongsToThePackageInItsName(t *testing.T) {
	const module = "example.org/server"
	for name, want := range map[string]Owner{
		"main.main":                                           Own,
		"main.(*pool[...]).grow":                              Own,
		"example.org/server.New":                              Own,
		"example.org/server/store.Put":                        Own,
		"example.org/server_test.TestNew":                     Own,
		"example.org/server/store_test.(*suite).run.func1":    Own,
		"example.org/server2.New":                             Dependency,
		"github.com/nats-io/nats-server/v2/server.(*m).store": Dependency,
		"example.org/server/vendor/example.net/lib.F":         Dependency,
		"gopkg.in/yaml%2ev3.Unmarshal":                        Dependency,
		"vendor/golang.org/x/net/http2/hpack.NewDecoder":      Standard,
		"net/http.(*conn).serve":                              Standard,
		"bytes.growSlice":                                     Standard,
		"slices.Grow[go.shape.[]example.org/server/store.T]":  Standard,
		"runtime/pprof.writeHeap":                             Standard,
		"runtime.mallocgc":                                    Runtime,
		"internal/runtime/maps.newarray":                      Runtime,
		"runtime/internal/sys.X":                              Runtime,
		"type:.eq.example.org/server.T":                       Runtime,
		"go:main.inittasks":                                   Runtime,
		"crosscall2":                                          Runtime,
		"":                                                    Runtime,
	} {
		if got := OwnerOf(name, module); got != want {
			t.Errorf("OwnerOf(%q) = %s, want %s", name, got, want)
		}
	}
	if got := OwnerOf("gopkg.in/yaml%2ev3/sub.F", "gopkg.in/yaml.v3"); got != Own {
		t.Errorf("an escaped own package is %s", got)
	}
	if got := OwnerOf("example.org/server.New", ""); got != Dependency {
		t.Errorf("without a module: %s", got)
	}
}

// at is a location of one frame for each function, innermost first.
func at(address uint64, functions ...string) sample.Location {
	l := sample.Location{Address: address}
	for i, f := range functions {
		l.Frames = append(l.Frames, sample.Frame{Func: f, File: f + ".go", Line: int(address) + i, StartLine: 1})
	}
	return l
}

func site(size sample.Bytes, stack ...sample.Location) sample.Site {
	return sample.Site{Stack: stack, Size: size}
}

func TestTheInnermostOwnFrameIsBlamed(t *testing.T) {
	for _, c := range []struct {
		name             string
		site             sample.Site
		frame, allocates string
		owner            Owner
	}{
		{"own code that called a library", site(1, at(1, "runtime.growslice"), at(2, "bytes.growSlice"), at(3, "example.net/lib.F"),
			at(4, "example.org/server.handle"), at(5, "main.main")),
			"example.org/server.handle", "bytes.growSlice", Own},
		{"a library's own goroutine", site(1, at(2, "bytes.growSlice"), at(3, "example.net/lib.F")), "example.net/lib.F", "bytes.growSlice", Dependency},
		{"the standard library alone", site(1, at(1, "runtime.makeslice"), at(2, "bufio.NewReaderSize"), at(3, "net/http.(*conn).serve")),
			"bufio.NewReaderSize", "bufio.NewReaderSize", Standard},
		{"the runtime alone", site(1, at(1, "runtime.malg"), at(2, "runtime.newproc1")), "runtime.malg", "runtime.malg", Runtime},
		{"inlined into a location", site(1, at(1, "runtime.newobject", "strings.Clone", "main.f")), "main.f", "strings.Clone", Own},
		{"nothing known", site(1, sample.Location{Address: 9}), "", "", Runtime},
	} {
		b := Blame(c.site, "example.org/server")
		if b.Frame.Func != c.frame || b.Allocates.Func != c.allocates || b.Owner != c.owner {
			t.Errorf("%s: %+v", c.name, b)
		}
	}
}

func TestHoldersGroupSitesByLine(t *testing.T) {
	handle := at(40, "main.handle")
	sites := []sample.Site{
		site(64, at(1, "bytes.a"), handle),
		site(1<<20, at(2, "bytes.b"), handle),
		site(512, at(3, "example.net/lib.F")),
		site(512, at(4, "main.later")),
	}
	earlier := &sample.HeapProfile{Rate: 524288, Counts: []sample.BucketCounts{{PubAllocs: 10}, {PubAllocs: 2, PubFrees: 1}, {PubAllocs: 3, PubFrees: 1}}}
	later := Profile{sites, &sample.HeapProfile{Rate: 524288, Counts: []sample.BucketCounts{
		{PubAllocs: 30, PubFrees: 5, NowAllocs: 31, NowFrees: 5}, {PubAllocs: 6, PubFrees: 1, NowAllocs: 9, NowFrees: 1},
		{PubAllocs: 3, PubFrees: 2, NowAllocs: 3, NowFrees: 2}, {PubAllocs: 1, NowAllocs: 1}, {PubAllocs: 99}}}}
	list := Holders(later, earlier, Published, "")
	if len(list) != 3 || list[0].Frame.Func != "main.handle" {
		t.Fatalf("holders: %+v", list)
	}
	h := list[0]
	small, large := Scale(25, 64, 524288), Scale(5, 1<<20, 524288)
	wantError := math.Hypot(Error(25, 64, 524288), Error(5, 1<<20, 524288))
	if h.InUse != small.Add(large) || h.Error != wantError || h.Samples != 30 {
		t.Errorf("in use %v ± %v of %d samples, want %v ± %v", h.InUse, h.Error, h.Samples, small.Add(large), wantError)
	}
	if want := Scale(15, 64, 524288).Add(Scale(4, 1<<20, 524288)); h.Growth != want {
		t.Errorf("growth %v, want %v", h.Growth, want)
	}
	if want := Scale(1, 64, 524288).Add(Scale(3, 1<<20, 524288)); h.Since != want {
		t.Errorf("since %v, want %v", h.Since, want)
	}
	if h.Sites[0] != 0 || h.Allocates.Func != "bytes.a" { // 25 of 64 bytes stand for 13 MB, 5 of 1 MiB for 6
		t.Errorf("greatest site: %v, %s", h.Sites, h.Allocates.Func)
	}
	if lib := list[1]; lib.Owner != Dependency || lib.Growth.Bytes >= 0 {
		t.Errorf("a holder that shrank: %+v", lib)
	}
	sum, _ := Total(list)
	if want := list[0].InUse.Add(list[1].InUse).Add(list[2].InUse); sum != want {
		t.Errorf("total %v, want %v", sum, want)
	}
}

func TestGrowthOverAChangedRateComparesWhatCountsStandFor(t *testing.T) {
	counts := func(n uint64) []sample.BucketCounts { return []sample.BucketCounts{{PubAllocs: n}} }
	before := &sample.HeapProfile{Rate: 1, Counts: counts(1000)}
	after := &sample.HeapProfile{Rate: 524288, Counts: counts(1)}
	want := Scale(1, 4096, 524288).Bytes - 4096*1000
	if got := Growth(before, after, 0, 4096, Published); got.Bytes != want {
		t.Errorf("growth %v, want %d bytes", got, want)
	}
	if got := Growth(nil, after, 0, 4096, Published); got != Scale(1, 4096, 524288) {
		t.Errorf("growth from nothing: %v", got)
	}
}

func TestCountsThatWereTornAreNotNegative(t *testing.T) {
	c := sample.BucketCounts{PubAllocs: 3, PubFrees: 5, NowAllocs: 2, NowFrees: 5}
	if Published.InUse(c) != 0 || Now.InUse(c) != 0 || Since(c) != 0 {
		t.Errorf("%d, %d, %d", Published.InUse(c), Now.InUse(c), Since(c))
	}
}
