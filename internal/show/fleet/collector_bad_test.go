package fleet

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// The clock of a node jumps by an hour, and back: rows go on, what is written later counts, and a
// mean is of the time that was seen.
func TestAClockThatJumps(t *testing.T) {
	t.Parallel()
	for name, jumps := range map[string][2]time.Duration{
		"an hour ahead, and back": {time.Hour, -time.Hour},
		"an hour back, and ahead": {-time.Hour, time.Hour},
		"a year back":             {-365 * day, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gathered{}
			c, l := watchShop(t, g)
			now := monday.Add(12*time.Hour + 20*time.Minute)
			c.clock = func() time.Time { return now }
			flushes := 0
			c.put = func(table *Table, rows []byte) error {
				if table == Points && len(rows) > 0 {
					flushes++
				}
				return g.put(table, rows)
			}
			minutes := func(n int) {
				t.Helper()
				for range n {
					now = now.Add(time.Minute)
					p := &sample.Point{At: now, Cgroup: &sample.Cgroup{Usage: 1}, Processes: []sample.Process{{Key: shop.Key, Resident: &sample.Resident{Total: 100},
						Go: &sample.Runtime{}}}}
					if err := errors.Join(l.Point(p), l.Heap(shop.Key, profile(now, 10, 0, 0))); err != nil {
						t.Fatal(err)
					}
				}
			}
			minutes(10)
			now = now.Add(jumps[0])
			minutes(10)
			now = now.Add(jumps[1])
			minutes(10)
			in := c.Incident(Incident{Process: l.Process(shop), Kind: KindKill, At: now}, Identity{Service: "shop"})
			now = now.Add(-time.Hour)
			in.Recording = "s3://kills/one"
			c.Recorded(in)
			l.Close()
			if points := rowsOf[Point](t, g, Points); len(points) != 30 || flushes < 25 {
				t.Errorf("%d rows of 30 minutes, handed on %d times", len(points), flushes)
			}
			last := time.Time{}
			for _, r := range rowsOf[HeapHour](t, g, HeapHours) {
				if r.Written.Before(last) {
					t.Errorf("written at %v, after %v", r.Written, last)
				}
				last = r.Written
				if mean := float64(r.InUseSeconds) / float64(max(r.Seconds, 1)); r.Seconds > 0 && (mean < 999 || mean > 1001) || r.Seconds > 2*3600 {
					t.Errorf("of 1000 bytes that were held all the time: %.1f over %d s", mean, r.Seconds)
				}
			}
			incidents := rowsOf[Incident](t, g, Incidents)
			if len(incidents) != 2 || !incidents[1].Written.After(incidents[0].Written) && incidents[1].Written != incidents[0].Written || incidents[1].Recording == "" {
				t.Errorf("%+v", incidents)
			}
		})
	}
}

// A pid is used again within a minute, by the same program and by another.
func TestAPidThatIsUsedAgain(t *testing.T) {
	t.Parallel()
	g := gathered{}
	c, l := watchShop(t, g)
	point := func(key sample.ProcessKey, at time.Time, resident *sample.Resident) {
		if err := l.Point(&sample.Point{At: at, Processes: []sample.Process{{Key: key, Resident: resident, Go: &sample.Runtime{}}}}); err != nil {
			t.Fatal(err)
		}
	}
	point(shop.Key, monday, &sample.Resident{Total: 1})
	point(shop.Key, monday.Add(time.Second), nil)
	again := shop
	again.Key.Start += 200 // two seconds later
	other := again
	other.Go = &sample.GoProgram{Version: "go1.26.8", Module: "example.org/other", BuildID: "b2"}
	for i, p := range []sample.Program{again, other} { // the second by exec: the same life of a process
		if err := errors.Join(l.Program(p), l.Sites(p.Key, 0, []sample.Site{site("main.put", 7, 100)})); err != nil {
			t.Fatal(err)
		}
		point(p.Key, monday.Add(time.Duration(2+i)*time.Second), &sample.Resident{Total: 2})
	}
	c.Flush()
	ids, ended := map[ID]bool{}, 0
	for _, r := range rowsOf[Process](t, g, Processes) {
		ids[r.Process] = true
		if r.Ended.OK {
			ended++
		}
	}
	if points := rowsOf[Point](t, g, Points); len(ids) != 3 || ended != 1 || len(points) != 3 {
		t.Errorf("%d processes, %d ended, %d points", len(ids), ended, len(points))
	}
}

// A build has 100,000 stacks that hold something: what an agent holds of them has a bound, and
// their bytes are all there.
// It measures the heap of the process, so it is not run in parallel.
func TestABuildOfAHundredThousandStacks(t *testing.T) {
	const n = 100_000
	g := gathered{}
	_, l := watchShop(t, g)
	sites, counts := make([]sample.Site, n), make([]uint64, n+3)
	for i := range sites {
		sites[i] = site("main.f", i, 16)
		counts[3+i] = 1
	}
	if err := l.Sites(shop.Key, 3, sites); err != nil {
		t.Fatal(err)
	}
	before := heapNow()
	for m := range 2 {
		if err := l.Heap(shop.Key, profile(monday.Add(time.Duration(m)*time.Minute), counts...)); err != nil {
			t.Fatal(err)
		}
	}
	took := heapNow() - before
	o := l.processes[shop.Key]
	if len(o.heap.stacks) > mostHeld+1 || took > 12<<20 {
		t.Errorf("%d stacks are held, in %d bytes", len(o.heap.stacks), took)
	}
	l.Close()
	var all, sum uint64
	rows := rowsOf[HeapHour](t, g, HeapHours)
	for _, r := range rows {
		if r.Stack == AllStacks {
			all = r.InUseLast
		} else {
			sum += r.InUseLast
		}
	}
	if len(rows) != mostLines+2 || all != 16*n || sum != all || len(rowsOf[Stack](t, g, Stacks)) > mostLines {
		t.Errorf("%d rows, %d of %d bytes", len(rows), sum, all)
	}
	t.Logf("%d stacks: %.1f MiB", n, float64(took)/(1<<20))
}

func heapNow() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Names are as long and as odd as a pod's may be, and a question finds them.
func TestTheLongestNameOfAPodIsFound(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) {
		longest := strings.Repeat("p", 253)
		for i, name := range []string{longest, longest[:252] + "q", "o'pod\\\"\n\xff"} {
			g := gathered{}
			c := NewCollector(Node{Tenant: "t", Name: "node-0"}, g.put, func(err error) { t.Error(err) })
			c.Incident(Incident{Process: ID{byte(i)}, Kind: KindKill, At: monday}, Identity{Service: name, Namespace: name, Pod: name, Container: name})
			if err := s.Put(t.Context(), Incidents, g[Incidents]); err != nil {
				t.Fatal(err)
			}
			valid := strings.ToValidUTF8(name, "\uFFFD")
			got, err := OfPod(t.Context(), s, Scope{Tenant: "t"}, Pod{valid, valid})
			if err != nil || len(got) != 1 || got[0].Pod != valid || got[0].Service != valid {
				t.Errorf("%s: %+v, %v", fmt.Sprintf("%.20q", name), got, err)
			}
		}
	})
}
