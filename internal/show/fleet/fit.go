package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Fit is which limit a service needs, from what its processes took.
type Fit struct {
	Service   string `json:"service"`
	Namespace string `json:"namespace,omitempty"`
	Container string `json:"container,omitempty"`
	Processes int    `json:"processes"`
	Hours     int    `json:"hours"` // for which they were seen, all together
	Kills     uint64 `json:"kills"`
	// Of all processes, the greatest: what a limit has to hold.
	Limit    uint64 `json:"limit_bytes"`     // that they have now, 0: none, or not known
	Peak     uint64 `json:"peak_bytes"`      // resident
	HeapLive uint64 `json:"heap_live_bytes"` // marked by a collection
	NonHeap  uint64 `json:"non_heap_bytes"`  // resident beside the heap: stacks, runtime, native
	GoLimit  uint64 `json:"gomemlimit_bytes"`
	// Why there is no recommendation, "" where there is one.
	Why         string             `json:"why_not"`
	Line        string             `json:"line,omitempty"` // of a leak
	Recommended *pacer.Recommended `json:"recommended,omitempty"`
	Notes       []string           `json:"notes"`

	short uint64 // kills that a GOMEMLIMIT would not have kept off
}

const (
	leastFit      = 3                // processes
	leastFitHours = 24               // that they were seen, all together
	headroom      = 1.3              // of the live heap, so that a collection is not due all the time
	percentMore   = 30               // the same in words
	roomAbovePeak = 1.15             // of a peak that was seen, where nothing bounds the heap
	growsDaily    = 0.05             // of its heap in a day: a process that does so leaks
	leakShare     = 0.25             // of the processes: then the service does
	fitStep       = 16 * sample.MiB  // limits are rounded up to it
	oldEnough     = 6 * time.Hour    // for a process's growth to say anything
	smallGrowth   = float64(2 << 20) // bytes a day that nobody calls a leak
	goLimitLoop   = 0.8              // of a limit: a GOMEMLIMIT above it follows the limit
	mostPoints    = 3_000_000        // rows that one question reads
	fitPart       = 4                // a process's growth is between the first and the last of so many parts
)

// taken is what one process took, over quarters of its time that was seen.
type taken struct {
	Service  string
	Process  ID
	First    time.Time
	Last     time.Time
	Points   uint64
	Peak     uint64
	Live     uint64
	NonHeap  int64
	Limit    uint64
	GoLimit  uint64
	UsageMax uint64
}

// quarter is the mean live heap of a process in a part of its time.
type quarter struct {
	Service string
	Process ID
	Hour    time.Time
	Live    uint64 // sum over points
	Points  uint64
}

// Fits are what services need, those with most to change first. A service that leaks has no
// recommendation: every limit is too small for it.
func Fits(ctx context.Context, s Store, scope Scope) ([]Fit, error) {
	values := scope.values(nil)
	rows,
		err := ask[taken](ctx, s,
		`SELECT service, process, min(at), max(at), CAST(count(*) AS UInt64), CAST(max(coalesce(resident, 0)) AS UInt64), CAST(max(coalesce(heap_live, 0)) AS UInt64),
		CAST(max(CAST(coalesce(resident, 0) AS Int64) - CAST(coalesce(heap_in_use, 0) AS Int64)) AS Int64), CAST(max(coalesce(mem_limit, 0)) AS UInt64), CAST(max(coalesce(gomemlimit, 0)) AS UInt64), CAST(max(coalesce(usage_max, 0)) AS UInt64)
		FROM {point} WHERE `+scope.rows()+" AND at >= {since:DateTime} GROUP BY service, process", values)
	if err != nil {
		return nil, err
	}
	hours, err := ask[quarter](ctx, s, fmt.Sprintf(`SELECT service, process, hour, sum(inuse_seconds), CAST(sum(seconds) AS UInt64) FROM {heap_hour}
		WHERE %s AND hour >= {since:DateTime} AND stack = {all:FixedString} GROUP BY service, process, hour LIMIT %d`, scope.rows(), mostPoints),
		scope.values(map[string]any{"all": AllStacks}))
	if err != nil {
		return nil, err
	}
	places, err := ask[livesIn](ctx, s, "SELECT service, max(namespace), max(container) FROM {process} WHERE "+scope.rows()+" GROUP BY service", values)
	if err != nil {
		return nil, err
	}
	kills, err := ask[killsOf](ctx, s, "SELECT service, class, file, max(line), CAST(count(*) AS UInt64) FROM {incident} WHERE "+scope.rows()+
		" AND at >= {since:DateTime} AND kind = '"+KindKill+"' GROUP BY service, class, file", values)
	if err != nil {
		return nil, err
	}
	return fits(rows, hours, places, kills), nil
}

type livesIn struct{ Service, Namespace, Container string }

type killsOf struct {
	Service, Class, File string
	Line                 uint32
	N                    uint64
}

func fits(rows []taken, hours []quarter, places []livesIn, kills []killsOf) []Fit {
	growing := growingOf(hours)
	byService := map[string]*Fit{}
	leaks := map[string]int{}
	seen := map[string]time.Duration{}
	for _, r := range rows {
		f := byService[r.Service]
		if f == nil {
			f = &Fit{Service: r.Service, Notes: []string{}}
			byService[r.Service] = f
		}
		f.Processes++
		seen[r.Service] += r.Last.Sub(r.First)
		f.Limit, f.Peak, f.HeapLive, f.GoLimit = max(f.Limit, r.Limit), max(f.Peak, r.Peak), max(f.HeapLive, r.Live), max(f.GoLimit, r.GoLimit)
		f.NonHeap = max(f.NonHeap, uint64(max(0, r.NonHeap)))
		if growing[r.Process] {
			leaks[r.Service]++
		}
	}
	for _, p := range places {
		if f := byService[p.Service]; f != nil {
			f.Namespace, f.Container = p.Namespace, p.Container
		}
	}
	for _, k := range kills {
		if f := byService[k.Service]; f != nil {
			f.Kills += k.N
			if k.Class != string(explain.GCUnaware) {
				f.short += k.N
			}
			if isLeak(k.Class) {
				leaks[k.Service] = f.Processes
				f.Line = fmt.Sprintf("%s:%d", k.File, k.Line)
			}
		}
	}
	list := []Fit{}
	for name, f := range byService {
		f.Hours = int(seen[name] / time.Hour)
		f.recommend(leaks[name])
		list = append(list, *f)
	}
	sorting.Stable(list, func(a, b Fit) int {
		return cmp.Or(cmp.Compare(b.change(), a.change()), cmp.Compare(a.Service, b.Service))
	})
	return list
}

// isLeak says that an incident's class is one that no limit helps against.
func isLeak(class string) bool {
	return slices.Contains([]explain.Class{explain.Leak, explain.Goroutines, explain.Processes}, explain.Class(class))
}

// change is by how much the limit would change, over all processes.
func (f *Fit) change() uint64 {
	if f.Recommended == nil {
		return 0
	}
	a, b := f.Limit, uint64(f.Recommended.Limit)
	return (max(a, b) - min(a, b)) * uint64(f.Processes)
}

// growingOf are the processes whose heap grew from the first to the last part of the time that
// they were seen, and in between.
func growingOf(hours []quarter) map[ID]bool {
	byProcess := map[ID][]quarter{}
	for _, h := range hours {
		byProcess[h.Process] = append(byProcess[h.Process], h)
	}
	growing := map[ID]bool{}
	for id, list := range byProcess {
		sorting.Stable(list, func(a, b quarter) int { return a.Hour.Compare(b.Hour) })
		list = list[min(1, len(list)):] // a program that begins grows
		if len(list) < fitPart || list[len(list)-1].Hour.Sub(list[0].Hour) < oldEnough {
			continue
		}
		var means [fitPart]float64
		for i := range means {
			part := list[i*len(list)/fitPart : (i+1)*len(list)/fitPart]
			var sum, looked float64
			for _, h := range part {
				sum, looked = sum+float64(h.Live), looked+float64(h.Points)
			}
			means[i] = sum / max(1, looked)
		}
		days := list[len(list)-1].Hour.Sub(list[0].Hour).Hours() / 24 * (fitPart - 1) / fitPart
		rate := (means[fitPart-1] - means[0]) / max(days, 0.01)
		growing[id] = slices.IsSorted(means[:]) && rate > max(smallGrowth, growsDaily*means[0])
	}
	return growing
}

// recommend fills in a limit, or why there is none.
func (f *Fit) recommend(leaks int) {
	switch {
	case float64(leaks) > leakShare*float64(f.Processes):
		f.Why = "the service leaks, so every limit is too small, and a larger one only delays the kill"
		if f.Line == "" {
			f.Why += "; highwater fleet top " + f.Service + " shows the lines"
		} else {
			f.Why += "; the line is " + f.Line
		}
		return
	case f.Processes < leastFit || f.Hours < leastFitHours:
		f.Why = fmt.Sprintf("not enough data: %d processes over %d hours, and %d over %d are needed", f.Processes, f.Hours, leastFit, leastFitHours)
		return
	case f.Peak == 0 || f.HeapLive == 0:
		f.Why = "no collection of it was seen, so that its live heap is not known"
		return
	}
	nonHeap := sample.Bytes(f.NonHeap)
	need := sample.Bytes(headroom*float64(f.HeapLive)) + nonHeap
	bounded := max(need+need/20, 32*sample.MiB)
	limit := (bounded + fitStep - 1) / fitStep * fitStep
	set := pacer.Setting{GOGC: 100, Limit: int64(pacer.MemoryLimitFor(limit, nonHeap))}
	if asIs := sample.Bytes(roomAbovePeak * float64(f.Peak)); asIs <= limit {
		limit = (asIs + fitStep - 1) / fitStep * fitStep
		set.Limit = max(int64(pacer.MemoryLimitFor(limit, nonHeap)), int64(need-nonHeap))
	}
	if f.short > 0 && uint64(limit) <= f.Limit {
		f.Why = fmt.Sprintf("%d of its processes were killed at the limit that they have, and not for garbage alone; highwater fleet incidents %s says why", f.short,
			f.Service)
		return
	}
	f.Recommended = pacer.Recommend(set, limit, f.Service)
	f.Recommended.Because = fmt.Sprintf("%s live + %d%% for the collector + %s beside the heap, each the greatest that was seen", size(f.HeapLive), percentMore,
		size(f.NonHeap))
	if f.Limit > 0 && f.GoLimit > 0 && float64(f.GoLimit) >= goLimitLoop*float64(f.Limit) {
		f.Notes = append(f.Notes,
			"GOMEMLIMIT is close to the limit, so that usage follows the limit: whoever sizes by usage raises both for ever. These figures are of the live heap.")
	}
	if f.Kills > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of its processes were killed in that time: what they would have needed beyond the limit is not in these figures",
			f.Kills))
	}
	f.Notes = append(f.Notes, "This is a prediction from points once a minute; a shorter peak is not in them. highwater fit proves a limit.")
}

func size(n uint64) string { return fmt.Sprintf("%d MiB", (n+1<<19)>>20) }
