package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scope is what a question is about.
type Scope struct {
	Tenant  string
	Service string // "": all
	Since   time.Time
	Now     time.Time
}

func (s Scope) values(more map[string]any) map[string]any {
	all := map[string]any{"tenant": s.Tenant, "service": s.Service, "since": s.Since}
	for name, v := range more {
		all[name] = v
	}
	return all
}

// ofScope is the condition that rows are of the tenant and of the service, if one is named.
const ofScope = "tenant = {tenant:String} AND (service = {service:String} OR {service:String} = '')"

// Cause is all incidents of one fingerprint: in the time asked for, and before.
type Cause struct {
	Fingerprint string    `json:"fingerprint"` // "": no cause was named, of that service and class
	Service     string    `json:"service"`
	Class       string    `json:"class"`
	Status      Status    `json:"status"`
	Since       string    `json:"since"` // the version that it came, or came back, in
	Count       uint64    `json:"count"` // in the time asked for
	Kills       uint64    `json:"kills"` // of these
	Pods        int       `json:"pods"`
	Versions    []string  `json:"versions"`
	First       time.Time `json:"first"` // ever
	Last        Incident  `json:"-"`     // the newest
	Newest      string    `json:"newest_incident"`
	At          time.Time `json:"at"`
	Sentence    string    `json:"sentence"`
	Cause       string    `json:"cause"`
	Where       string    `json:"where"` // the line to blame, "" for none
}

// Status is what is known of a cause from before.
type Status string

// The statuses. A cause came back where a version that ran in between did not have it.
const (
	StatusNew   Status = "new"
	StatusKnown Status = "known"
	StatusBack  Status = "came back"
)

// mostIncidents is how many rows one question reads.
const mostIncidents = 10_000

var incidentColumns = strings.Join(Incidents.names(), ", ")

// AllIncidents are those of the scope, the newest first, mostIncidents at most.
func AllIncidents(ctx context.Context, s Store, scope Scope) ([]Incident, error) {
	return ask[Incident](ctx, s, fmt.Sprintf("SELECT %s FROM {incident} WHERE %s AND at >= {since:DateTime} ORDER BY at DESC, incident LIMIT %d", incidentColumns, ofScope, mostIncidents), scope.values(nil))
}

// Find is the incident whose ID begins so.
func Find(ctx context.Context, s Store, tenant, prefix string) (Incident, error) {
	lo, hi, err := idRange(prefix)
	if err != nil {
		return Incident{}, err
	}
	found, err := ask[Incident](ctx, s, "SELECT "+incidentColumns+" FROM {incident} WHERE tenant = {tenant:String} AND incident >= {lo:FixedString} AND incident <= {hi:FixedString} ORDER BY at DESC LIMIT 3",
		map[string]any{"tenant": tenant, "lo": lo, "hi": hi})
	switch {
	case err != nil:
		return Incident{}, err
	case len(found) == 0:
		return Incident{}, fmt.Errorf("no incident %s: %w", prefix, ErrNone)
	case len(found) > 1:
		return Incident{}, fmt.Errorf("several incidents begin with %s, %s and %s for two: give more digits", prefix, found[0].Incident, found[1].Incident)
	}
	return found[0], nil
}

// causeOfService is what incidents are one cause by.
type causeOfService struct{ service, fingerprint, class string }

func causeOf(service, fingerprint, class string) causeOfService {
	if fingerprint != "" {
		class = ""
	}
	return causeOfService{service, fingerprint, class}
}

// life is a cause in one version of a service.
type life struct {
	Service, Fingerprint, Class, Version string
	First, Last                          time.Time
}

// version is one version of a service, by the processes that ran it.
type version struct {
	Service, Version string
	First            time.Time
}

// Causes are the incidents of the scope by cause, those with most kills first, and of
// these the newest.
func Causes(ctx context.Context, s Store, scope Scope) ([]Cause, error) {
	all, err := AllIncidents(ctx, s, scope)
	if err != nil {
		return nil, err
	}
	lives, err := ask[life](ctx, s, "SELECT service, fingerprint, class, version, min(at), max(at) FROM {incident} WHERE "+ofScope+" GROUP BY service, fingerprint, class, version", scope.values(nil))
	if err != nil {
		return nil, err
	}
	versions, err := ask[version](ctx, s, "SELECT service, version, min(started) FROM {process} WHERE "+ofScope+" GROUP BY service, version", scope.values(nil))
	if err != nil {
		return nil, err
	}
	past := map[causeOfService][]life{}
	for _, l := range lives {
		key := causeOf(l.Service, l.Fingerprint, l.Class)
		past[key] = append(past[key], l)
	}
	return causes(all, past, versions, scope.Since), nil
}

func causes(all []Incident, past map[causeOfService][]life, versions []version, since time.Time) []Cause {
	byCause := map[causeOfService][]Incident{}
	for _, in := range all {
		key := causeOf(in.Service, in.Fingerprint, in.Class)
		byCause[key] = append(byCause[key], in)
	}
	list := []Cause{}
	for key, incidents := range byCause {
		c := summary(incidents)
		c.First = c.At
		for _, l := range past[key] {
			if l.First.Before(c.First) {
				c.First = l.First
			}
		}
		c.Status, c.Since = statusOf(past[key], ofService(versions, key.service), since)
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Kills, a.Kills), b.At.Compare(a.At), cmp.Compare(a.Newest, b.Newest))
	})
	return list
}

// summary is what incidents of one cause, the newest first, have together.
func summary(incidents []Incident) Cause {
	last := incidents[0]
	c := Cause{Fingerprint: last.Fingerprint, Service: last.Service, Class: last.Class, Count: uint64(len(incidents)), Last: last, Newest: last.Incident.String(), At: last.At,
		Sentence: last.Sentence, Cause: last.Cause, Where: last.Where()}
	pods := map[string]bool{}
	for _, in := range incidents {
		if in.Kind == KindKill {
			c.Kills++
		}
		pods[cmp.Or(in.Pod, in.Process.String())] = true
		if !slices.Contains(c.Versions, in.Version) {
			c.Versions = append(c.Versions, in.Version)
		}
	}
	c.Pods = len(pods)
	return c
}

// Where is the line to blame, "" for none.
func (in Incident) Where() string {
	if in.File == "" || in.Line == 0 {
		return in.Function
	}
	return fmt.Sprintf("%s:%d", in.File, in.Line)
}

func ofService(all []version, service string) (list []version) {
	for _, v := range all {
		if v.Service == service {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b version) int { return a.First.Compare(b.First) })
	return list
}

// statusOf says whether a cause is new since a time, and the version that it came in. It
// came back where, in the order in which versions began, one without it lies before the
// latest ones with it, and after an earlier one with it.
func statusOf(lives []life, versions []version, since time.Time) (Status, string) {
	has := map[string]bool{}
	first := lives[0]
	for _, l := range lives {
		has[l.Version] = true
		if l.First.Before(first.First) {
			first = l
		}
	}
	came, seen, back := first.Version, false, false
	gap := false
	for _, v := range versions {
		switch {
		case has[v.Version] && seen && gap && !v.First.Before(since):
			came, back, gap = v.Version, true, false
		case has[v.Version]:
			seen, gap = true, false
		case seen:
			gap = true
		}
	}
	switch {
	case back:
		return StatusBack, came
	case first.First.Before(since):
		return StatusKnown, came
	}
	return StatusNew, came
}

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
	Services  uint64
	Processes uint64
	Silent    uint64 // processes that keep no heap profile
	Lines     []Growth
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
// the time: a seventh of what was seen of it, an hour at least.
func Top(ctx context.Context, s Store, scope Scope, most int) (*Fleet, error) {
	f := &Fleet{Lines: []Growth{}}
	if err := f.count(ctx, s, scope); err != nil || f.To.IsZero() {
		return f, err
	}
	f.Part = max((f.To.Sub(f.From) / 7).Truncate(time.Hour), time.Hour)
	values := scope.values(map[string]any{"early": f.From.Add(f.Part), "late": f.To.Add(-f.Part)})
	rows, err := ask[held](ctx, s, `SELECT service, stack, CAST(hour >= {late:DateTime} AS UInt32), sum(inuse_seconds), CAST(sum(seconds) AS UInt64), CAST(count(*) AS UInt64)
		FROM {heap_hour} WHERE `+ofScope+` AND hour >= {since:DateTime} AND (hour < {early:DateTime} OR hour >= {late:DateTime}) GROUP BY service, stack, CAST(hour >= {late:DateTime} AS UInt32)`, values)
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

// mostStacks is how many of the stacks that grew are looked up by name.
const mostStacks = 200

// seen is what a store has of a scope.
type seen struct {
	First, Last         time.Time
	Services, Processes uint64
}

func (f *Fleet) count(ctx context.Context, s Store, scope Scope) error {
	got, err := ask[seen](ctx, s, "SELECT min(hour), max(hour), CAST(count(DISTINCT service) AS UInt64), CAST(count(DISTINCT process) AS UInt64) FROM {heap_hour} WHERE "+ofScope+" AND hour >= {since:DateTime} HAVING count(*) > 0", scope.values(nil))
	if err != nil || len(got) == 0 {
		return err
	}
	f.From, f.To, f.Services, f.Processes = got[0].First, got[0].Last.Add(time.Hour), got[0].Services, got[0].Processes
	silent, err := ask[count](ctx, s, "SELECT CAST(count(*) AS UInt64) FROM {process} WHERE "+ofScope+" AND started >= {since:DateTime} AND heap_profile = 'off'", scope.values(nil))
	if err == nil && len(silent) > 0 {
		f.Silent = silent[0].N
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
	slices.SortFunc(list, func(a, b grown) int {
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
	var which []string
	for i, g := range list {
		name := fmt.Sprintf("s%d", i)
		values[name] = g.stack
		which = append(which, "stack = {"+name+":FixedString}")
	}
	rows, err := ask[Stack](ctx, s, "SELECT "+strings.Join(Stacks.names(), ", ")+" FROM {stack} WHERE tenant = {tenant:String} AND ("+strings.Join(which, " OR ")+")", values)
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
	slices.SortFunc(lines, func(a, b Growth) int {
		return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Function, b.Function))
	})
	return lines
}

// inVersion is what a stack held in one version of a service.
type inVersion struct {
	Version   string
	Stack     ID
	First     time.Time
	InUse     uint64
	Seconds   uint64
	Processes uint64
}

// explain adds to each line the version in which it began, and the kills of its service.
func (f *Fleet) explain(ctx context.Context, s Store, scope Scope, names map[ID]Stack) error {
	kills, err := killsByService(ctx, s, scope)
	if err != nil {
		return err
	}
	byService := map[string][]inVersion{}
	for i := range f.Lines {
		line := &f.Lines[i]
		line.Kills = kills[line.Service]
		rows, ok := byService[line.Service]
		if !ok {
			values := scope.values(map[string]any{"service": line.Service, "late": f.To.Add(-f.Part)})
			rows, err = ask[inVersion](ctx, s, `SELECT version, stack, min(hour), sum(inuse_seconds), CAST(sum(seconds) AS UInt64), CAST(count(DISTINCT process) AS UInt64)
				FROM {heap_hour} WHERE tenant = {tenant:String} AND service = {service:String} AND hour >= {since:DateTime} GROUP BY version, stack`, values)
			if err != nil {
				return err
			}
			byService[line.Service] = rows
		}
		line.Since, line.Pods = began(rows, *line, names)
	}
	return nil
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
	rows, err := ask[ofOne](ctx, s, "SELECT service, CAST(count(*) AS UInt64) FROM {incident} WHERE "+ofScope+" AND at >= {since:DateTime} AND kind = '"+KindKill+"' GROUP BY service", scope.values(nil))
	kills := map[string]uint64{}
	for _, r := range rows {
		kills[r.Service] = r.N
	}
	return kills, err
}
