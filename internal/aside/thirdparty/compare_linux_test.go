package thirdparty

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// tries is how often a server is asked that is never quiet.
const tries = 50

// eye reads a server from outside.
type eye struct {
	t     *testing.T
	bin   *gobin.Binary
	bias  uint64
	stats *gostats.Stats
	sites []sample.Site
}

func look(t *testing.T, pid int) *eye {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	e := &eye{t: t}
	var err error
	e.bin, err = gobin.Open(fmt.Sprintf("/proc/%d/exe", pid))
	must(err)
	t.Cleanup(func() { e.bin.Close() })
	mem, err := procfs.OpenMemory("/proc", pid)
	must(err)
	t.Cleanup(func() { mem.Close() })
	mappings, err := new(procfs.Mapper).Mappings("/proc", pid)
	must(err)
	first := slices.IndexFunc(mappings, func(m procfs.Mapping) bool { return m.Offset == 0 && m.FileBacked() })
	e.bias = mappings[first].Start - e.bin.Base()
	runtime, err := gomem.Attach(mem, e.bin, e.bias)
	must(err)
	e.stats = gostats.New(runtime)
	t.Logf("%s, found by %s", e.bin.GoVersion, e.bin.FoundBy)
	return e
}

// published is the server's heap profile as it would give it now.
func (e *eye) published() (*profile.Profile, []sample.BucketCounts) {
	e.t.Helper()
	p := &sample.HeapProfile{}
	if err := e.stats.Profile(p); err != nil {
		e.t.Fatal(err)
	}
	for _, b := range e.stats.Buckets(len(e.sites)) {
		addresses := make([]uint64, len(b.Stack))
		for i, pc := range b.Stack {
			addresses[i] = pc - e.bias
		}
		stack, hidden := e.bin.Site(addresses)
		e.sites = append(e.sites, sample.Site{Stack: stack, Size: b.Size, Hidden: hidden})
	}
	return heapdiff.ToPprof(heapdiff.Profile{HeapProfile: p, Sites: e.sites}, sample.Program{}, heapdiff.Published), p.Counts
}

// isPublished is whether two readings give the same profile.
func isPublished(a, b []sample.BucketCounts) bool {
	return slices.EqualFunc(a, b, func(x, y sample.BucketCounts) bool { return x.PubAllocs == y.PubAllocs && x.PubFrees == y.PubFrees })
}

// sameProfile compares the profile with the server's own, sample for sample,
// where no collection came between the readings.
func (e *eye) sameProfile(url string) {
	e.t.Helper()
	if _, err := get(url + "?gc=1"); err != nil {
		e.t.Fatal(err)
	}
	for range tries {
		_, before := e.published()
		text, err := get(url)
		if err != nil {
			e.t.Fatal(err)
		}
		ours, after := e.published()
		if !isPublished(before, after[:len(before)]) || !isPublished(after[len(before):], make([]sample.BucketCounts, len(after)-len(before))) {
			continue
		}
		own, err := profile.Parse(bytes.NewReader(text))
		if err != nil {
			e.t.Fatal(err)
		}
		said, read := samplesOf(own), samplesOf(ours)
		if len(said) < 5 || !maps.Equal(said, read) {
			e.t.Errorf("the server's own profile has %d stacks, read were %d:%s", len(said), len(read), difference(said, read))
		}
		e.t.Logf("%d stacks are equal", len(said))
		return
	}
	e.t.Errorf("a collection came between each of %d pairs of readings", tries)
}

// samplesOf is a profile's values by stack, without files: runtime/pprof keeps one
// file for each function name (protomem.go, and proto.go, funcs), so of a package's
// init that is made of several files it names one for all lines.
func samplesOf(p *profile.Profile) map[string][4]int64 {
	all := map[string][4]int64{}
	for _, s := range p.Sample {
		if slices.Max(s.Value) == 0 {
			continue
		}
		var stack strings.Builder
		for _, l := range s.Location {
			for _, line := range l.Line {
				fmt.Fprintf(&stack, "%s:%d\n", line.Function.Name, line.Line)
			}
		}
		sum := all[stack.String()]
		for i, v := range s.Value {
			sum[i] += v
		}
		all[stack.String()] = sum
	}
	return all
}

// difference shows stacks that differ.
func difference(said, read map[string][4]int64) string {
	var b strings.Builder
	for _, side := range []struct {
		name       string
		these, not map[string][4]int64
	}{{"said", said, read}, {"read", read, said}} {
		for stack, values := range side.these {
			if values != side.not[stack] && b.Len() < 4000 {
				fmt.Fprintf(&b, "\n%s %v:\n%s", side.name, values, stack)
			}
		}
	}
	return b.String()
}

// figures are what Go's Prometheus client publishes of the runtime, and the same
// as it is read.
var figures = map[string]func(*sample.Runtime) float64{
	"go_gc_duration_seconds_count":     func(r *sample.Runtime) float64 { return float64(r.NumGC) },
	"go_memstats_next_gc_bytes":        func(r *sample.Runtime) float64 { return float64(r.HeapGoal) },
	"go_memstats_last_gc_time_seconds": func(r *sample.Runtime) float64 { return float64(r.LastGC.UnixNano()) / 1e9 },
	"go_memstats_buck_hash_sys_bytes":  func(r *sample.Runtime) float64 { return float64(r.BuckHash) },
	"go_memstats_mspan_sys_bytes":      func(r *sample.Runtime) float64 { return float64(r.MSpanSys) },
	"go_memstats_mcache_sys_bytes":     func(r *sample.Runtime) float64 { return float64(r.MCacheSys) },
	"go_memstats_stack_sys_bytes":      func(r *sample.Runtime) float64 { return float64(r.StackSys) },
	"go_memstats_heap_sys_bytes":       func(r *sample.Runtime) float64 { return float64(r.HeapInUse + r.HeapFree + r.HeapReleased) },
}

// sameFigures compares each figure that did not move while the server was asked.
// One that never stands still, as each answer makes new sites, has to lie between
// what was read before and after each answer.
func (e *eye) sameFigures(url string) {
	e.t.Helper()
	open, outside := maps.Clone(figures), map[string]int{}
	for range tries {
		var before, after sample.Runtime
		if err := e.stats.Counters(&before); err != nil {
			e.t.Fatal(err)
		}
		said := scrape(e.t, url)
		if err := e.stats.Counters(&after); err != nil {
			e.t.Fatal(err)
		}
		for name, of := range open {
			own, published := said[name]
			if !published {
				e.t.Errorf("%s is not published", name)
				delete(open, name)
			} else if low, high := of(&before), of(&after); low == high && own == low {
				delete(open, name)
			} else if own < low || own > high {
				outside[name]++
			}
		}
		if len(open) == 0 {
			e.t.Logf("%d figures are equal", len(figures))
			return
		}
	}
	for name := range open {
		if outside[name] > 0 {
			e.t.Errorf("%s was never equal in %d tries, and %d times not between the readings", name, tries, outside[name])
		}
	}
}

// scrape is the samples of a page of metrics that have no labels.
func scrape(t *testing.T, url string) map[string]float64 {
	t.Helper()
	text, err := get(url)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			all[name] = v
		}
	}
	return all
}
