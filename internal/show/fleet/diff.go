package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Diff is whether processes of one version of a service hold more than those of another.
type Diff struct {
	Service string
	Before  Versioned
	After   Versioned
	// Hours of a process's life that are compared, from its second on: the longest time
	// that enough processes of both versions have lived.
	Hours int
	// P is the probability of such a difference, or a greater one, where there is none.
	P     float64
	Shown bool
	// Why nothing can be said, "" where something is.
	Why   string
	Lines []LineDiff // that differ most; where Shown alone
}

// Versioned is one side of a Diff.
type Versioned struct {
	Version   string
	Processes int     // that are compared
	Bytes     float64 // median over them of the mean that each held
}

// Relative is the change of the medians, in parts of the first.
func (d *Diff) Relative() float64 {
	if d.Before.Bytes == 0 {
		return 0
	}
	return d.After.Bytes/d.Before.Bytes - 1
}

// LineDiff is what a function's objects take more, as a mean of a process.
type LineDiff struct {
	Function string  `json:"function"`
	File     string  `json:"file"`
	Line     uint32  `json:"line"`
	Before   float64 `json:"before_bytes"`
	After    float64 `json:"after_bytes"`
}

// Bytes is the difference.
func (l LineDiff) Bytes() float64 { return l.After - l.Before }

const (
	// leastPods is how many processes of each version a comparison needs: below five, no
	// outcome of a rank test is as unlikely as surely.
	leastPods = 5
	// surely is the probability below which a difference is not taken for chance.
	surely = 0.02
	// mostHours is how many rows one comparison reads.
	mostHours = 2_000_000
)

// ofHour is what a stack held in a process over an hour.
type ofHour struct {
	Version string
	Process ID
	Stack   ID
	Hour    time.Time
	InUse   uint64
	Seconds uint32
}

type started struct {
	Process ID
	At      time.Time
}

// Versions are those of a service that ran in the time, the first to begin first.
func Versions(ctx context.Context, s Store, scope Scope) ([]string, error) {
	rows,
		err := ask[version](ctx, s,
		"SELECT service, version, min(started) FROM {process} WHERE tenant = {tenant:String} AND service = {service:String} AND started >= {since:DateTime} GROUP BY service, version",
		scope.values(nil))
	list := []string{}
	for _, v := range ofService(rows, scope.Service) {
		list = append(list, v.Version)
	}
	return list, err
}

// Compare says whether the processes of version after hold more than those of before, at
// equal ages: what a young process holds says little of an old one.
func Compare(ctx context.Context, s Store, scope Scope, before, after string) (*Diff, error) {
	values := scope.values(map[string]any{"before": before, "after": after})
	rows,
		err := ask[ofHour](ctx, s,
		fmt.Sprintf(`SELECT version, process, stack, hour, inuse_seconds, seconds FROM {heap_hour} WHERE tenant = {tenant:String} AND service = {service:String}
		AND (version = {before:String} OR version = {after:String}) AND hour >= {since:DateTime} LIMIT %d`, mostHours), values)
	if err != nil {
		return nil, err
	}
	if len(rows) == mostHours {
		return nil, errors.New("more than two million rows: compare a shorter time with --since")
	}
	begun,
		err := ask[started](ctx, s,
		`SELECT process, started FROM {process} WHERE tenant = {tenant:String} AND service = {service:String} AND (version = {before:String} OR version = {after:String})`, values)
	if err != nil {
		return nil, err
	}
	d := &Diff{Service: scope.Service, Before: Versioned{Version: before}, After: Versioned{Version: after}, P: 1, Lines: []LineDiff{}}
	stacks := d.compare(rows, begun)
	if !d.Shown {
		return d, nil
	}
	names, err := namesOf(ctx, s, scope.Tenant, stacks)
	if err != nil {
		return nil, err
	}
	for _, g := range byLine(stacks, names) {
		d.Lines = append(d.Lines, LineDiff{g.Function, g.File, g.Line, g.From, g.To})
	}
	sorting.Stable(d.Lines, func(a, b LineDiff) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Bytes()), math.Abs(a.Bytes())), cmp.Compare(a.Function, b.Function))
	})
	return d, nil
}

// pod is one process of a comparison.
type pod struct {
	after   bool
	all     map[int]ofHour // of all stacks, by its age in hours
	stacks  []ofHour
	started time.Time
}

// age is how many hours a process had lived when an hour began.
func (p *pod) age(hour time.Time) int {
	return int(hour.Sub(p.started.Truncate(time.Hour)) / time.Hour)
}

// lived is for how many hours after its first, which is not whole, it was looked at without
// a break.
func (p *pod) lived() (n int) {
	for {
		if _, ok := p.all[n+1]; !ok {
			return n
		}
		n++
	}
}

// compare fills in the figures, and gives the stacks that differ most.
func (d *Diff) compare(rows []ofHour, begun []started) []grown {
	pods := podsOf(rows, begun, d.After.Version)
	d.Hours = commonHours(pods)
	if d.Hours == 0 {
		d.Why = fmt.Sprintf("too few processes of both versions have lived for more than an hour: %d are needed of each", leastPods)
		return nil
	}
	var values [2][]float64
	var compared []*pod
	for _, p := range pods {
		if p.lived() < d.Hours {
			continue
		}
		compared = append(compared, p)
		var sum, seconds float64
		for age := 1; age <= d.Hours; age++ {
			sum, seconds = sum+float64(p.all[age].InUse), seconds+float64(p.all[age].Seconds)
		}
		values[side(p.after)] = append(values[side(p.after)], sum/max(1, seconds))
	}
	for i, v := range []*Versioned{&d.Before, &d.After} {
		v.Processes, v.Bytes = len(values[i]), median(values[i])
	}
	d.P = trial.MannWhitney(values[0], values[1])
	d.Shown = d.P < surely
	return d.stacks(compared)
}

func side(after bool) int {
	if after {
		return 1
	}
	return 0
}

func podsOf(rows []ofHour, begun []started, after string) []*pod {
	at := map[ID]time.Time{}
	for _, b := range begun {
		at[b.Process] = b.At
	}
	byID := map[ID]*pod{}
	var pods []*pod
	for _, r := range rows {
		p := byID[r.Process]
		if p == nil {
			when, ok := at[r.Process]
			if !ok {
				continue // its own row has not come yet
			}
			p = &pod{after: r.Version == after, all: map[int]ofHour{}, started: when}
			byID[r.Process] = p
			pods = append(pods, p)
		}
		if r.Stack == AllStacks {
			p.all[p.age(r.Hour)] = r
		} else {
			p.stacks = append(p.stacks, r)
		}
	}
	return pods
}

// commonHours is the longest age that leastPods of both versions have come to.
func commonHours(pods []*pod) int {
	var lived [2][]int
	for _, p := range pods {
		lived[side(p.after)] = append(lived[side(p.after)], p.lived())
	}
	hours := math.MaxInt
	for _, list := range lived {
		if len(list) < leastPods {
			return 0
		}
		slices.Sort(list)
		hours = min(hours, list[len(list)-leastPods])
	}
	return hours
}

// stacks are the means of a process by stack, those that differ most first.
func (d *Diff) stacks(pods []*pod) []grown {
	var seconds [2]float64
	sums := map[ID]*[2]float64{}
	for _, p := range pods {
		i := side(p.after)
		for age := 1; age <= d.Hours; age++ {
			seconds[i] += float64(p.all[age].Seconds)
		}
		for _, r := range p.stacks {
			if age := p.age(r.Hour); age < 1 || age > d.Hours || r.Stack == OtherStacks {
				continue
			}
			if sums[r.Stack] == nil {
				sums[r.Stack] = &[2]float64{}
			}
			sums[r.Stack][i] += float64(r.InUse)
		}
	}
	var list []grown
	for id, sum := range sums {
		list = append(list, grown{service: d.Service, stack: id, from: sum[0] / max(1, seconds[0]), to: sum[1] / max(1, seconds[1])})
	}
	sorting.Stable(list, func(a, b grown) int {
		return cmp.Or(cmp.Compare(math.Abs(b.to-b.from), math.Abs(a.to-a.from)), slices.Compare(a.stack[:], b.stack[:]))
	})
	return list[:min(len(list), mostStacks)]
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
