package fleet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// gathered is what a collector has handed on, by table.
type gathered map[*Table][]byte

func (g gathered) put(t *Table, rows []byte) error {
	g[t] = append(g[t], rows...)
	return nil
}

func rowsOf[T any](t *testing.T, g gathered, table *Table) []T {
	t.Helper()
	rows, err := Decode[T](g[table])
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

var shop = sample.Program{Key: sample.ProcessKey{PID: 7, Start: 99}, Name: "shop", HeapProfile: sample.HeapProfileOn,
	Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.org/shop", BuildID: "b1", MainPackage: "example.org/shop"}}

func site(function string, line int, size sample.Bytes) sample.Site {
	return sample.Site{Size: size, Stack: []sample.Location{{Frames: []sample.Frame{{Func: function, File: "/src/shop/main.go", Line: line}}}}}
}

// watchShop is a life of a program with two sites, one of which two sizes of objects have.
func watchShop(t *testing.T, g gathered) (*Collector, *Life) {
	c := NewCollector(Node{Tenant: "t", Name: "node-7", BootID: "boot", Tool: "v1"}, g.put, func(err error) { t.Error(err) })
	l := c.NewLife(func(sample.Program) Identity {
		return Identity{Service: strings.Repeat("n", 300), Version: "v1", Pod: "shop-0", Namespace: "prod", Container: `we"b`}
	})
	if err := errors.Join(l.Program(shop), l.Sites(shop.Key, 0, []sample.Site{site("main.put", 7, 100), site("main.put", 7, 200),
		site("main.get", 9, 100)})); err != nil {
		t.Fatal(err)
	}
	return c, l
}

// profile is a heap profile of every allocation, with objects in use by site.
func profile(at time.Time, inUse ...uint64) *sample.HeapProfile {
	p := &sample.HeapProfile{At: at, Rate: 1}
	for _, n := range inUse {
		p.Counts = append(p.Counts, sample.BucketCounts{PubAllocs: n + 5, PubFrees: 5})
	}
	return p
}

func TestAnHourIsTheSumOfItsProfiles(t *testing.T) {
	t.Parallel()
	g := gathered{}
	_, l := watchShop(t, g)
	for _, p := range []*sample.HeapProfile{
		profile(monday.Add(30*time.Minute), 10, 5, 0), // 2000 bytes of put
		profile(monday.Add(40*time.Minute), 20, 0, 0), // 2000
		profile(monday.Add(50*time.Minute), 0, 0, 40), // 4000 of get
		profile(monday.Add(70*time.Minute), 0, 0, 10), // and in the next hour
	} {
		if err := l.Heap(shop.Key, p); err != nil {
			t.Fatal(err)
		}
	}
	l.Collector.Flush()
	byStack := map[string]HeapHour{}
	for _, r := range rowsOf[HeapHour](t, g, HeapHours) {
		if r.Hour.Equal(monday) {
			byStack[r.Stack.String()] = r
		}
	}
	put, get, all := byStack[stackID(site("main.put", 7, 1)).String()], byStack[stackID(site("main.get", 9, 1)).String()], byStack[AllStacks.String()]
	if put.InUseSeconds != 2000*1200 || put.Seconds != 1800 || put.InUseMax != 2000 || put.InUseLast != 0 {
		t.Errorf("put: %+v", put)
	}
	if get.InUseSeconds != 4000*600 || get.InUseLast != 4000 || all.InUseSeconds != put.InUseSeconds+get.InUseSeconds || all.Seconds != 1800 {
		t.Errorf("get: %+v, all: %+v", get, all)
	}
	names := rowsOf[Stack](t, g, Stacks)
	if len(names) != 2 || names[0].File != "/src/shop/main.go" || !strings.HasPrefix(names[0].Frames, names[0].Function+" /src/shop/main.go:") {
		t.Errorf("%+v", names)
	}
	if who := rowsOf[Process](t, g, Processes)[0]; who.Service != strings.Repeat("n", mostName) || who.Node != "node-7" || who.Ended.OK {
		t.Errorf("%+v", who)
	}
}

// A program at rest has the rows of an hour twice, early and when the hour is over; one that moves each five minutes.
// The mean of the hour is the same.
func TestAnHourWithoutNewsIsSentTwice(t *testing.T) {
	t.Parallel()
	for moves, want := range map[bool]int{false: 2, true: 12} {
		g := gathered{}
		_, l := watchShop(t, g)
		for m := range 120 {
			at := monday.Add(time.Duration(m) * time.Minute)
			n := uint64(10)
			if moves {
				n += uint64(m % 2)
			}
			p := &sample.Point{At: at, Processes: []sample.Process{{Key: shop.Key, Resident: &sample.Resident{Total: 100}, Go: &sample.Runtime{}}}}
			if err := errors.Join(l.Heap(shop.Key, profile(at, n)), l.Point(p)); err != nil {
				t.Fatal(err)
			}
		}
		l.Collector.Flush()
		sent, last := 0, HeapHour{}
		for _, r := range rowsOf[HeapHour](t, g, HeapHours) {
			if r.Stack == AllStacks && r.Hour.Equal(monday) {
				sent, last = sent+1, r
			}
		}
		mean := float64(last.InUseSeconds) / float64(last.Seconds)
		if sent != want || last.Seconds != 3600 || mean < 1000 || mean > 1100 {
			t.Errorf("moves %v: %d times, the last %+v", moves, sent, last)
		}
	}
}

// A hundred processes of one build have their stacks' frames in memory once.
func TestProcessesShareTheFramesOfTheirStacks(t *testing.T) {
	t.Parallel()
	c, one := watchShop(t, gathered{})
	other := shop
	other.Key.PID++
	two := c.NewLife(func(sample.Program) Identity { return Identity{} })
	err := errors.Join(two.Program(other), two.Sites(other.Key, 0, []sample.Site{site("main.get", 9, 100)}),
		one.Heap(shop.Key, profile(monday, 1, 1, 1)), two.Heap(other.Key, profile(monday, 1)))
	if err != nil {
		t.Fatal(err)
	}
	first, second := one.processes[shop.Key], two.processes[other.Key]
	id := stackID(site("main.get", 9, 1))
	if &first.sites[2].Stack[0] != &second.sites[0].Stack[0] || &first.heap.stacks[id].site.Stack[0] != &second.heap.stacks[id].site.Stack[0] {
		t.Error("each has its own")
	}
}

func TestTheSmallestStacksAreOneRow(t *testing.T) {
	t.Parallel()
	g := gathered{}
	_, l := watchShop(t, g)
	var sites []sample.Site
	counts := []uint64{0, 0, 0}
	for i := range 2 * mostLines {
		sites, counts = append(sites, site("main.f", 100+i, 10)), append(counts, uint64(1+i))
	}
	if err := errors.Join(l.Sites(shop.Key, 3, sites), l.Heap(shop.Key, profile(monday, counts...)),
		l.Heap(shop.Key, profile(monday.Add(time.Minute), counts...))); err != nil {
		t.Fatal(err)
	}
	l.Close()
	rows := rowsOf[HeapHour](t, g, HeapHours)
	var sum, others, all uint64
	for _, r := range rows {
		switch r.Stack {
		case AllStacks:
			all = r.InUseLast
		case OtherStacks:
			others = r.InUseLast
			fallthrough
		default:
			sum += r.InUseLast
		}
	}
	if len(rows) != mostLines+2 || sum != all || others != 10*uint64(mostLines*(mostLines+1)/2) {
		t.Errorf("%d rows, %d of %d bytes, %d in others", len(rows), sum, all, others)
	}
}

func TestAProcessHasARowAMinuteAndAnEnd(t *testing.T) {
	t.Parallel()
	g := gathered{}
	c, l := watchShop(t, g)
	point := func(after time.Duration, resident *sample.Resident) {
		p := &sample.Point{At: monday.Add(after), Cgroup: &sample.Cgroup{Usage: sample.Bytes(after / time.Second), Limit: sample.Some[sample.Bytes](1 << 20)}}
		p.Processes = []sample.Process{{Key: shop.Key, Resident: resident, Go: &sample.Runtime{HeapMarked: 5, Goroutines: 3}}}
		if err := l.Point(p); err != nil {
			t.Fatal(err)
		}
	}
	for s := range 130 {
		point(time.Duration(s)*time.Second, &sample.Resident{Total: 100, Shared: 40})
	}
	var text strings.Builder
	if err := c.Metrics(&text, SpoolStats{Bytes: 12}, More{Unwatched: map[string]int{"hidden": 2}}, func() float64 { return 0 }); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if m := families["highwater_usage_bytes"].GetMetric(); len(m) != 1 || m[0].GetGauge().GetValue() != 120 || m[0].GetLabel()[4].GetValue() != `we"b` {
		t.Errorf("%v", m)
	}
	point(131*time.Second, nil)
	c.Flush()
	points := rowsOf[Point](t, g, Points)
	if len(points) != 3 || points[1].UsageMax.V != 60 || points[1].Resident.V != 60 || points[1].Limit.V != 1<<20 {
		t.Errorf("%+v", points)
	}
	processes := rowsOf[Process](t, g, Processes)
	if last := processes[len(processes)-1]; !last.Ended.OK || last.Ended.V != seconds(monday.Add(131*time.Second)) || last.Limit.V != 1<<20 {
		t.Errorf("%+v", last)
	}
}
