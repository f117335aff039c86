package fleet

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// simulation is how large a fleet is simulated: HIGHWATER_FLEET=whole in the environment is
// 5,000 pods, of which docs/benchmarks.md tells.
type simulation struct {
	services, pods, stacks int // pods of a service, stacks of a pod
	perAgent               int // pods
	looks                  int // of five minutes
	daily                  int // stacks of a pod in the week
}

func simulated() simulation {
	if os.Getenv("HIGHWATER_FLEET") == "whole" {
		return simulation{services: 200, pods: 25, stacks: 200, perAgent: 50, looks: 2, daily: 20}
	}
	return simulation{services: 200, pods: 1, stacks: 20, perAgent: 50, looks: 2, daily: 3}
}

// losing is a server before another, which loses each tenth answer after the other has taken
// what was sent.
func losing(t *testing.T, address string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(r *http.Response) error {
		if n.Add(1)%10 == 0 {
			return fmt.Errorf("lost")
		}
		return nil
	}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// stackIn is a stack of a service by its number, without the cost of a hash of names.
func stackIn(service, k int) (id ID) {
	binary.BigEndian.PutUint32(id[:], 1+uint32(service))
	binary.BigEndian.PutUint32(id[4:], uint32(k)*2654435761)
	return id
}

func podID(service, pod, life int) (id ID) {
	binary.BigEndian.PutUint32(id[:], uint32(service)*2654435761)
	binary.BigEndian.PutUint32(id[4:], uint32(pod))
	binary.BigEndian.PutUint32(id[8:], 7+uint32(life))
	return id
}

// In the format of the wire, by the spools of many agents at once, with answers lost: what
// was sent is there, once.
func TestAFleetLosesNothingAndDoublesNothing(t *testing.T) {
	t.Parallel()
	z := simulated()
	one := newServer(t, freePorts(t, 3), "")
	one.start(t)
	direct := made(t, openAt(t, one, Options{Plain: true}))
	through, err := Open(losing(t, one.address())+"/highwater", Options{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { through.Close() })
	all := z.services * z.pods
	began := time.Now()
	var agents sync.WaitGroup
	slots := make(chan struct{}, 4)
	var rows, bytes atomic.Int64
	for first := 0; first < all; first += z.perAgent {
		agents.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := z.agent(t.Context(), filepath.Join(t.TempDir(), fmt.Sprint(first)), through, first, min(all, first+z.perAgent), &rows, &bytes); err != nil {
				t.Error(err)
			}
		})
	}
	agents.Wait()
	took := time.Since(began)
	t.Logf("%d pods, %d looks of five minutes: %d rows, %d MiB of them, in %.1f s: %.0f rows/s, %.1f times faster than time", all, z.looks, rows.Load(),
		bytes.Load()>>20, took.Seconds(), float64(rows.Load())/took.Seconds(), float64(z.looks)*300/took.Seconds())
	for table, want := range map[string]int{"point": all * z.looks * 5, "heap_hour": all * (z.stacks + 1), "process": all} {
		got, err := ask[count](t.Context(), direct, "SELECT CAST(count(*) AS UInt64) FROM {"+table+"} WHERE tenant = {tenant:String}", map[string]any{"tenant": "t"})
		if err != nil || len(got) != 1 || got[0].N != uint64(want) {
			t.Errorf("%s has %v rows, %v; %d keys were sent", table, got, err, want)
		}
	}
}

// agent is one of a node with pods from first to last.
func (z simulation) agent(ctx context.Context, dir string, store Store, first, last int, rows, bytes *atomic.Int64) error {
	spool, err := OpenSpool(dir, 1<<30)
	if err != nil {
		return err
	}
	defer spool.Close()
	put := func(t *Table, b []byte, n int) error {
		rows.Add(int64(n))
		bytes.Add(int64(len(b)))
		return spool.Put(t, b)
	}
	for look := range z.looks {
		at := monday.Add(time.Duration(look) * 5 * time.Minute)
		var processes, points, hours []byte
		for n := first; n < last; n++ {
			service := n / z.pods
			name, process := fmt.Sprintf("service-%03d", service), podID(service, n%z.pods, 0)
			processes = Encode(processes, Process{Tenant: "t", Service: name, Process: process, Version: "v1", Namespace: "prod", Pod: fmt.Sprint(name, "-", n),
				Started: monday, HeapProfile: "on", Written: at})
			for m := range 5 {
				minute := at.Add(time.Duration(m) * time.Minute)
				points = Encode(points, Point{Tenant: "t", Service: name, Process: process, At: minute, Resident: sample.Some(uint64(n) << 20),
					HeapLive: sample.Some(uint64(n) << 19), Written: minute})
			}
			for k := -1; k < z.stacks; k++ {
				h := HeapHour{Tenant: "t", Service: name, Stack: AllStacks, Process: process, Hour: monday, Version: "v1", InUseSeconds: uint64(n*(k+2)) << 12,
					Seconds: uint32(300 * (look + 1)), Written: at}
				if k >= 0 {
					h.Stack = stackIn(service, k)
				}
				hours = Encode(hours, h)
			}
		}
		pods := last - first
		for _, one := range []struct {
			t *Table
			b []byte
			n int
		}{{Processes, processes, pods}, {Points, points, 5 * pods}, {HeapHours, hours, (z.stacks + 1) * pods}} {
			if err := put(one.t, one.b, one.n); err != nil {
				return err
			}
		}
		for spool.Stats().Batches > 0 {
			if err := spool.Drain(ctx, store); err != nil && ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// A week of the same fleet: eight lines grow, in three versions, one of them by 1 MiB an hour;
// half of the pods restart each day.
func TestTheLinesThatGrowInAWholeFleetAreTheFirst(t *testing.T) {
	t.Parallel()
	t.Run("clickhouse", func(t *testing.T) { simulated().week(t, made(t, startClickHouse(t))) })
	t.Run("chdb", func(t *testing.T) { simulated().week(t, made(t, startChDB(t))) })
}

func (z simulation) week(t *testing.T, s Store) {
	grow := map[int]uint64{3: 40, 21: 50, 55: 60, 90: 70, 120: 80, 150: 90, 170: 100, 199: 110} // MiB
	const leaks, hourly = 77, 1 << 20
	const days = 8
	began, rows := time.Now(), 0
	for service := range z.services {
		name := fmt.Sprintf("service-%03d", service)
		var names []Stack
		for k := range z.daily {
			names = append(names, Stack{Tenant: "t", Stack: stackIn(service, k), Function: fmt.Sprintf("%s.(*store).line%d", name, k), File: name + "/store.go",
				Line: uint32(k + 1), Written: monday})
		}
		put(t, s, Stacks, names...)
		var processes, hours []byte
		for pod := range z.pods {
			for h := range days * 24 {
				life := 0
				if pod%2 == 1 {
					life = h / 24
				}
				process, at, version := podID(service, pod, life), monday.Add(time.Duration(h)*time.Hour), fmt.Sprintf("v%d", 1+h/48)
				if life == 0 && h == 0 || life > 0 && h%24 == 0 {
					processes = Encode(processes, Process{Tenant: "t", Service: name, Process: process, Version: version, Started: at, HeapProfile: "on", Written: at})
				}
				all := uint64(0)
				for k := range z.daily {
					mean := uint64(4<<20) + uint64((h*31+pod*17+k*7+service)%64)<<14
					if more := grow[service]; more > 0 && k == 1 && h >= 48*(1+service%3) {
						mean += more << 20
					}
					if service == leaks && k == 2 {
						mean += uint64(h) * hourly
					}
					all += mean
					hours = Encode(hours, HeapHour{Tenant: "t", Service: name, Stack: names[k].Stack, Process: process, Hour: at, Version: version, InUseSeconds: mean * 3600,
						Seconds: 3600, InUseMax: mean, InUseLast: mean, Written: at})
				}
				hours = Encode(hours, HeapHour{Tenant: "t", Service: name, Stack: AllStacks, Process: process, Hour: at, Version: version, InUseSeconds: all * 3600,
					Seconds: 3600, InUseMax: all, InUseLast: all, Written: at})
				rows += z.daily + 1
			}
		}
		for _, one := range []struct {
			t *Table
			b []byte
		}{{Processes, processes}, {HeapHours, hours}} {
			if err := s.Put(t.Context(), one.t, one.b); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d pods, %d days, %d rows written in %.1f s", z.services*z.pods, days, rows, time.Since(began).Seconds())
	onDisk(t, s, HeapHours)
	scope := Scope{Tenant: "t", Since: monday, Now: monday.Add(days * day)}
	z.timed(t, "top of hours", s, scope, grow)
	began = time.Now()
	done, err := Rollup(t.Context(), s, "t", monday.Add(days*day+time.Hour))
	if err != nil || len(done.Days) != days {
		t.Fatalf("%+v, %v", done, err)
	}
	t.Logf("rollup of %d days: %d rows in %.1f s", days, done.Rows, time.Since(began).Seconds())
	z.timed(t, "top of days", s, scope, grow)
	scope.Service = "service-077"
	began = time.Now()
	if got, err := Fits(t.Context(), s, scope); err != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	t.Logf("fit of one service: %.2f s", time.Since(began).Seconds())
	began = time.Now()
	d, err := Compare(t.Context(), s, scope, "v1", "v4")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("diff of one service: %.2f s; shown %v, %s", time.Since(began).Seconds(), d.Shown, d.Why)
}

// onDisk says how many bytes a row of a table takes, as the store has merged it so far.
func onDisk(t *testing.T, s Store, table *Table) {
	t.Helper()
	type sum struct{ Rows, Bytes uint64 }
	got, err := ask[sum](t.Context(), s, "SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = {database:String} AND table = {table:String}",
		map[string]any{"database": "highwater", "table": table.Name})
	if err != nil || len(got) != 1 || got[0].Rows == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	t.Logf("%s: %.1f bytes a row, %d rows", table.Name, float64(got[0].Bytes)/float64(got[0].Rows), got[0].Rows)
}

// timed asks twice what grew, and checks the ranks.
func (z simulation) timed(t *testing.T, what string, s Store, scope Scope, grow map[int]uint64) {
	t.Helper()
	for _, how := range []string{"cold", "warm"} {
		began := time.Now()
		got, err := Top(t.Context(), s, scope, 10)
		if err != nil || len(got.Lines) < 9 {
			t.Fatalf("%+v, %v", got, err)
		}
		t.Logf("%s, %s: %.2f s", what, how, time.Since(began).Seconds())
		if got.Lines[0].Function != "service-077.(*store).line2" {
			t.Errorf("%s: the first line is %+v, not the leak", what, got.Lines[0])
		}
		found := map[string]string{}
		for _, l := range got.Lines[1:9] {
			found[l.Function] = l.Since
		}
		for service := range grow {
			if since := found[fmt.Sprintf("service-%03d.(*store).line1", service)]; since != fmt.Sprintf("v%d", 2+service%3) {
				t.Errorf("%s: service %d grew since v%d, and was found since %q", what, service, 2+service%3, since)
			}
		}
	}
}
