package fleet

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Growth is a line of a service that holds more, in each process, than it did.
type Growth struct {
	Service  string  `json:"service"`
	Function string  `json:"function"`
	File     string  `json:"file"`
	Line     uint32  `json:"line"`
	From     float64 `json:"from_bytes"` // mean of a process in the first part of the time
	To       float64 `json:"to_bytes"`   // and in the last
	Since    string  `json:"since"`      // the version in which more than half of the growth was there
	Pods     uint64  `json:"processes"`  // that have it in the last part
	Kills    uint64  `json:"kills"`      // of the service, in the whole time
}

// Bytes is the growth.
func (g Growth) Bytes() float64 { return g.To - g.From }

// Fleet is an answer to "what grew", with what it does not know.
type Fleet struct {
	From, To  time.Time // what was seen of the time asked for
	Part      time.Duration
	Late      time.Time // when the last part begins
	Services  uint64
	Processes uint64
	Silent    uint64 // processes that keep no heap profile
	Lines     []Growth

	table, at string // the table that it is from, and its column of times
}

// held is what a stack held in a part of the time.
type held struct {
	Service   string
	Stack     ID
	Late      uint32
	InUse     uint64 // bytes times seconds
	Seconds   uint64
	Processes uint64
}

// Top is which lines grew most, in each process, between the first and the last part of
// the time: a seventh of what was seen of it, an hour at least. Where that is days, and
// Rollup has summed them up, they end with the last that it has.
func Top(ctx context.Context, s Store, scope Scope, most int) (*Fleet, error) {
	f := &Fleet{Lines: []Growth{}, table: "heap_hour", at: "hour"}
	if err := f.count(ctx, s, scope); err != nil {
		return nil, err
	}
	if err := f.inDays(ctx, s, scope); err != nil {
		return nil, err
	}
	if f.To.IsZero() {
		if err := f.inHours(ctx, s, scope); err != nil || f.To.IsZero() {
			return f, err
		}
	}
	values := scope.values(map[string]any{"since": f.From, "until": f.To, "early": f.From.Add(f.Part), "late": f.Late})
	isLate := "CAST(" + f.at + " >= {late:DateTime} AS UInt32)"
	rows, err := ask[held](ctx, s, "SELECT service, stack, "+isLate+", sum(inuse_seconds), CAST(sum(seconds) AS UInt64), CAST("+f.processes()+` AS UInt64)
		FROM {`+f.table+"} WHERE "+scope.rows()+f.within()+" AND ("+f.at+" < {early:DateTime} OR "+f.at+" >= {late:DateTime}) GROUP BY service, stack, "+
		isLate, values)
	if err != nil {
		return nil, err
	}
	grown := growths(rows)
	grown = grown[:min(len(grown), mostStacks)]
	names, err := namesOf(ctx, s, scope.Tenant, grown)
	if err != nil {
		return nil, err
	}
	f.Lines = byLine(grown, names)
	f.Lines = f.Lines[:min(len(f.Lines), most)]
	return f, f.explain(ctx, s, scope, names)
}

// within is the condition that rows are of the time that f is of.
func (f *Fleet) within() string {
	return " AND " + f.at + " >= {since:DateTime} AND " + f.at + " < {until:DateTime}"
}

// processes is how many processes rows are of: of days they were counted.
func (f *Fleet) processes() string {
	if f.table == HeapDays.Name {
		return "max(processes)"
	}
	return "count(DISTINCT process)"
}

// inDays takes days where Rollup has made those that are needed: a day is one row for all
// processes of a version.
func (f *Fleet) inDays(ctx context.Context, s Store, scope Scope) error {
	if scope.Now.Sub(scope.Since) < leastDays*day {
		return nil
	}
	got, err := ask[seen](ctx, s, "SELECT min(day), max(day) FROM heap_day WHERE "+scope.rows()+
		" AND day >= {since:DateTime} AND stack = {all:FixedString} HAVING count(*) > 0", scope.values(map[string]any{"all": AllStacks}))
	if err != nil || len(got) == 0 {
		return err
	}
	from, to := got[0].First, got[0].Last.Add(day)
	part := max((to.Sub(from) / 7).Round(day), day)
	late := to.Add(-part)
	if scope.Now.Before(to) { // of today there are few hours yet
		late = late.Add(-day)
	}
	if scope.Now.Sub(to) > 2*day || late.Sub(from) < part {
		return nil // they end too early, or are too few
	}
	f.From, f.To, f.Part, f.Late, f.table, f.at = from, to, part, late, HeapDays.Name, "day"
	return nil
}

// leastDays is how long a time must be for days to be fine enough.
const leastDays = 7

// inHours takes all hours that there are. The first and the last are the same whether a row is
// there once or twice.
func (f *Fleet) inHours(ctx context.Context, s Store, scope Scope) error {
	got, err := ask[seen](ctx, s, "SELECT min(hour), max(hour) FROM heap_hour WHERE "+scope.rows()+
		" AND hour >= {since:DateTime} AND stack = {all:FixedString} HAVING count(*) > 0", scope.values(map[string]any{"all": AllStacks}))
	if err != nil || len(got) == 0 {
		return err
	}
	f.From, f.To = got[0].First, got[0].Last.Add(time.Hour)
	f.Part = max((f.To.Sub(f.From) / 7).Truncate(time.Hour), time.Hour)
	f.Late = f.To.Add(-f.Part)
	return nil
}

// mostStacks is how many of the stacks that grew are looked up by name.
const mostStacks = 200

// seen is what a store has of a scope.
type seen struct{ First, Last time.Time }

// services is how many of them and of their processes there were.
type services struct{ Services, Processes uint64 }

// alive is the condition that processes ran in the time asked for.
const alive = " AND (ended IS NULL OR ended >= {from:UInt32})"

func (f *Fleet) count(ctx context.Context, s Store, scope Scope) error {
	values := scope.values(map[string]any{"from": seconds(scope.Since)})
	ran, err := ask[services](ctx, s, "SELECT CAST(count(DISTINCT service) AS UInt64), CAST(count(*) AS UInt64) FROM {process} WHERE "+scope.rows()+alive, values)
	if err != nil {
		return err
	}
	silent, err := ask[count](ctx, s, "SELECT CAST(count(*) AS UInt64) FROM {process} WHERE "+scope.rows()+alive+" AND heap_profile = 'off'", values)
	if err == nil && len(ran) > 0 && len(silent) > 0 {
		f.Services, f.Processes, f.Silent = ran[0].Services, ran[0].Processes, silent[0].N
	}
	return err
}

type count struct{ N uint64 }

// grown is a stack that holds more than it did.
type grown struct {
	service  string
	stack    ID
	from, to float64
	pods     uint64
}

// growths are the stacks whose mean in a process rose, most first. What a process did not
// have counts as nothing there: AllStacks says how long all processes were looked at.
func growths(rows []held) []grown {
	type part struct {
		service string
		late    uint32
	}
	looked := map[part]float64{}
	for _, r := range rows {
		if r.Stack == AllStacks {
			looked[part{r.Service, r.Late}] += float64(r.Seconds)
		}
	}
	type key struct {
		service string
		stack   ID
	}
	stacks := map[key]*grown{}
	for _, r := range rows {
		if r.Stack == AllStacks || r.Stack == OtherStacks {
			continue
		}
		g := stacks[key{r.Service, r.Stack}]
		if g == nil {
			g = &grown{service: r.Service, stack: r.Stack}
			stacks[key{r.Service, r.Stack}] = g
		}
		total := looked[part{r.Service, r.Late}]
		switch {
		case total == 0:
		case r.Late != 0:
			g.to += float64(r.InUse) / total
			g.pods = max(g.pods, r.Processes)
		default:
			g.from += float64(r.InUse) / total
		}
	}
	var list []grown
	for _, g := range stacks {
		_, both := looked[part{g.service, 0}]
		if both && g.to > g.from {
			list = append(list, *g)
		}
	}
	sorting.Stable(list, func(a, b grown) int {
		return cmp.Or(cmp.Compare(b.to-b.from, a.to-a.from), cmp.Compare(a.service, b.service), slices.Compare(a.stack[:], b.stack[:]))
	})
	return list
}

// namesOf is what the stacks are called.
func namesOf(ctx context.Context, s Store, tenant string, list []grown) (map[ID]Stack, error) {
	names := map[ID]Stack{}
	if len(list) == 0 {
		return names, nil
	}
	values := map[string]any{"tenant": tenant}
	ids := make([]ID, len(list))
	for i, g := range list {
		ids[i] = g.stack
	}
	which := among("stack", "FixedString", "s", ids, values)
	rows, err := ask[Stack](ctx, s, "SELECT "+strings.Join(Stacks.names(), ", ")+" FROM {stack} WHERE tenant = {tenant:String} AND "+which, values)
	for _, r := range rows {
		names[r.Stack] = r
	}
	return names, err
}

// place is a function of a service: stacks are of one place where their blamed function is
// the same, whatever its line is in which version.
type place struct{ service, function string }

// byLine joins stacks of one place, most growth first.
func byLine(list []grown, names map[ID]Stack) []Growth {
	byPlace := map[place]*Growth{}
	for _, g := range list {
		n, ok := names[g.stack]
		if !ok {
			n.Function = "(unknown)"
		}
		key := place{g.service, n.Function}
		line := byPlace[key]
		if line == nil { // the stack that grew most names the line
			line = &Growth{Service: g.service, Function: n.Function, File: n.File, Line: n.Line}
			byPlace[key] = line
		}
		line.From += g.from
		line.To += g.to
		line.Pods = max(line.Pods, g.pods)
	}
	lines := []Growth{}
	for _, line := range byPlace {
		lines = append(lines, *line)
	}
	sorting.Stable(lines, func(a, b Growth) int {
		return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Function, b.Function))
	})
	return lines
}

// inVersion is what a stack held in one version of a service.
type inVersion struct {
	Service   string
	Version   string
	Stack     ID
	First     time.Time
	InUse     uint64
	Seconds   uint64
	Processes uint64
}

// explain adds to each line the version in which it began, and the kills of its service.
func (f *Fleet) explain(ctx context.Context, s Store, scope Scope, names map[ID]Stack) error {
	if len(f.Lines) == 0 {
		return nil
	}
	kills, err := killsByService(ctx, s, scope)
	if err != nil {
		return err
	}
	values := map[string]any{"tenant": scope.Tenant, "since": f.From, "until": f.To}
	rows, err := ask[inVersion](ctx, s, "SELECT service, version, stack, min("+f.at+"), sum(inuse_seconds), CAST(sum(seconds) AS UInt64), CAST("+f.processes()+
		` AS UInt64)
		FROM {`+f.table+"} WHERE tenant = {tenant:String} AND "+among("service", "String", "of", f.services(), values)+f.within()+
		" GROUP BY service, version, stack", values)
	if err != nil {
		return err
	}
	byService := map[string][]inVersion{}
	for _, r := range rows {
		byService[r.Service] = append(byService[r.Service], r)
	}
	for i := range f.Lines {
		line := &f.Lines[i]
		line.Kills = kills[line.Service]
		line.Since, line.Pods = began(byService[line.Service], *line, names)
	}
	return nil
}

// services are those of the lines.
func (f *Fleet) services() []string {
	var list []string
	for _, line := range f.Lines {
		list = append(list, line.Service)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// began is the first version whose processes hold more than half of a line's growth, "" where none does,
// and how many processes have the line.
func began(rows []inVersion, line Growth, names map[ID]Stack) (since string, processes uint64) {
	type sum struct {
		first         time.Time
		inUse, looked float64
		processes     uint64
	}
	versions := map[string]*sum{}
	for _, r := range rows {
		v := versions[r.Version]
		if v == nil {
			v = &sum{first: r.First}
			versions[r.Version] = v
		}
		switch {
		case r.Stack == AllStacks:
			v.looked += float64(r.Seconds)
		case names[r.Stack].Function == line.Function:
			v.inUse += float64(r.InUse)
			v.processes = max(v.processes, r.Processes)
		}
		if r.First.Before(v.first) {
			v.first = r.First
		}
	}
	var best *sum
	for name, v := range versions {
		processes += v.processes
		if v.looked == 0 || v.inUse/v.looked < line.From+line.Bytes()/2 {
			continue
		}
		if best == nil || v.first.Before(best.first) {
			best, since = v, name
		}
	}
	return since, processes
}

type ofOne struct {
	Service string
	N       uint64
}

func killsByService(ctx context.Context, s Store, scope Scope) (map[string]uint64, error) {
	rows, err := ask[ofOne](ctx, s, "SELECT service, CAST(count(*) AS UInt64) FROM {incident} WHERE "+scope.rows()+" AND at >= {since:DateTime} AND kind = '"+
		KindKill+"' GROUP BY service", scope.values(nil))
	kills := map[string]uint64{}
	for _, r := range rows {
		kills[r.Service] = r.N
	}
	return kills, err
}
