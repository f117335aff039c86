package fleet

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Node is where an agent runs.
type Node struct {
	Tenant string // of all its rows
	Name   string
	BootID string
	Boot   time.Time // zero: not known; then programs are taken to start when they are first seen
	Tool   string    // version of highwater
}

// Identity is what a program is called in the fleet. What is not known is "".
type Identity struct {
	Service, Version          string
	Namespace, Pod, Container string
	ContainerID               string
	Image                     string // of the container
	PodUID                    string // for Events; in no row
}

// The bounds of an agent's rows.
const (
	mostName      = 253     // bytes of a name: as long as a pod's may be
	mostLines     = 200     // stacks of a process and hour; what the others hold is one row
	mostHeld      = 20_000  // stacks of a process that are told apart; what the others hold is one row
	mostKnown     = 100_000 // stacks whose names are remembered as sent
	everyPoint    = time.Minute
	everyHeap     = 5 * time.Minute // that an hour which is not over is sent again where something moved
	unknown       = "(unknown)"
	mostPerBatch  = 4 << 20 // bytes of rows that wait for the next flush
	everyBatch    = time.Minute
	bytesPerStack = 4096 // of its frames' text
)

// Collector gathers the rows of all programs of a node, and hands them on as batches.
type Collector struct {
	node Node
	put  func(*Table, []byte) error
	tell func(error)

	mu        sync.Mutex
	waiting   map[*Table][]byte
	flushed   time.Time
	clock     func() time.Time
	last      time.Time // that a row was written at
	known     map[ID]bool
	stacks    map[ID][]sample.Location // of processes that run or ran: those of one build have the same
	latest    map[ID]gauge             // by process that runs
	incidents map[string]uint64
}

// NewCollector gathers for put, a spool's. tell is told where rows could not be kept.
func NewCollector(node Node, put func(*Table, []byte) error, tell func(error)) *Collector {
	node.Tenant, node.Name = cut(node.Tenant), cut(node.Name)
	return &Collector{node: node, put: put, tell: tell, clock: time.Now, waiting: map[*Table][]byte{}, known: map[ID]bool{}, stacks: map[ID][]sample.Location{},
		latest: map[ID]gauge{}, incidents: map[string]uint64{}}
}

// written is when a row is written: of several of one key the latest counts, so that it never
// goes back, as the clock of a machine may.
func (c *Collector) written() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.clock().Round(0); now.After(c.last) { // by the wall clock alone
		c.last = now
	}
	return c.last
}

// due says that something was done long enough ago, or later than now: the clock went back.
func due(now, last time.Time, every time.Duration) bool {
	since := now.Round(0).Sub(last.Round(0))
	return since >= every || since < 0
}

// cut is a name that is not too long.
func cut(s string) string { return s[:min(len(s), mostName)] }

// add keeps rows until the next flush.
func add[T any](c *Collector, t *Table, rows ...T) {
	c.mu.Lock()
	c.waiting[t] = Encode(c.waiting[t], rows...)
	full := len(c.waiting[t]) > mostPerBatch
	c.mu.Unlock()
	if full {
		c.Flush()
	}
}

// FlushLater flushes where the last time was a while ago.
func (c *Collector) FlushLater(now time.Time) {
	c.mu.Lock()
	again := due(now, c.flushed, everyBatch)
	if again {
		c.flushed = now
	}
	c.mu.Unlock()
	if again {
		c.Flush()
	}
}

// Flush hands on what waits, names before what has them.
func (c *Collector) Flush() {
	c.mu.Lock()
	waiting := c.waiting
	c.waiting = map[*Table][]byte{}
	c.mu.Unlock()
	var errs []error
	for _, t := range Tables() {
		errs = append(errs, c.put(t, waiting[t]))
	}
	if err := errors.Join(errs...); err != nil {
		c.tell(err)
	}
}

// name sends a stack's names once.
func (c *Collector) name(id ID, s Stack) {
	c.mu.Lock()
	known := c.known[id]
	if len(c.known) >= mostKnown {
		clear(c.known) // they are sent again, and are there once
	}
	c.known[id] = true
	c.mu.Unlock()
	if !known {
		add(c, Stacks, s)
	}
}

// share gives the frames that were given first for a stack. A hundred processes of four builds with 300 stacks
// each had 73 MiB of them otherwise.
func (c *Collector) share(id ID, stack []sample.Location) []sample.Location {
	c.mu.Lock()
	defer c.mu.Unlock()
	if first, ok := c.stacks[id]; ok {
		return first
	}
	if len(c.stacks) >= mostHeld {
		clear(c.stacks) // those of processes that run are held by these; others have ended
	}
	c.stacks[id] = stack
	return stack
}

// Incident keeps one, and sends it at once. What the node knows is filled in.
func (c *Collector) Incident(in Incident, who Identity) Incident {
	in.Tenant, in.Node, in.Tool, in.Written = c.node.Tenant, c.node.Name, c.node.Tool, c.written()
	in.Service, in.Version = who.service(), cut(who.Version)
	in.Namespace, in.Pod, in.Container, in.Image = cut(who.Namespace), cut(who.Pod), cut(who.Container), cut(who.Image)
	in.Incident = IncidentID(in.Process, in.Kind, in.At)
	c.mu.Lock()
	c.incidents[in.Kind]++
	c.mu.Unlock()
	add(c, Incidents, in)
	c.Flush()
	return in
}

// Recorded sends an incident again, with where its recording is.
func (c *Collector) Recorded(in Incident) {
	if at := c.written(); at.After(in.Written) {
		in.Written = at
	} else {
		in.Written = in.Written.Add(time.Second) // the clock went back since
	}
	add(c, Incidents, in)
	c.Flush()
}

// Node is what this node is called.
func (c *Collector) Node() string { return c.node.Name }

// Tool is the version of highwater that gathers.
func (c *Collector) Tool() string { return c.node.Tool }

// Process names a life on this node.
func (c *Collector) Process(p sample.Program) ID {
	build := ""
	if p.Go != nil {
		build = p.Go.BuildID
	}
	return ProcessID(c.node.BootID, p.Key, build)
}

func (w Identity) service() string {
	if w.Service == "" {
		return unknown
	}
	return cut(w.Service)
}

// observed is one process of a Life.
type observed struct {
	row    Process
	module string
	sites  []sample.Site
	heap   heapHour
	point  time.Time // of the last row of it
	most   sample.Bytes
}

// Life gathers the rows of one watch: it is a capture.Sink beside the recording.
type Life struct {
	*Collector
	who       func(sample.Program) Identity
	processes map[sample.ProcessKey]*observed
	part      float64 // of the limit that was in use at the last point, 0: not known
}

// OfLimit is which part of its limit was in use when it was last looked at, 0 where that is
// not known. It is called when nothing is seen any more.
func (l *Life) OfLimit() float64 { return l.part }

// NewLife begins one. who is asked once for each program.
func (c *Collector) NewLife(who func(sample.Program) Identity) *Life {
	return &Life{Collector: c, who: who, processes: map[sample.ProcessKey]*observed{}}
}

// Program notes what runs; Go programs have rows.
func (l *Life) Program(p sample.Program) error {
	if p.Go == nil {
		return nil
	}
	who := l.who(p)
	row := Process{Tenant: l.node.Tenant, Service: who.service(), Process: l.Process(p), Version: cut(who.Version), BuildID: cut(p.Go.BuildID), Go: p.Go.Version,
		Namespace: cut(who.Namespace), Pod: cut(who.Pod), Container: cut(who.Container), ContainerID: who.ContainerID, Node: l.node.Name, PID: uint32(p.Key.PID),
		Started: l.started(p.Key), HeapProfile: string(p.HeapProfile), Agent: l.node.Tool, Written: l.written()}
	if o := l.processes[p.Key]; o != nil {
		row.Started = o.row.Started
		if o.row.Process != row.Process { // another program since (exec)
			l.hour(o, time.Now())
			l.processes[p.Key] = &observed{row: row, module: p.Go.Module}
		} else {
			o.row = row
		}
	} else {
		l.processes[p.Key] = &observed{row: row, module: p.Go.Module}
	}
	add(l.Collector, Processes, row)
	return nil
}

// started is when a process began.
func (c *Collector) started(key sample.ProcessKey) time.Time {
	if c.node.Boot.IsZero() {
		return time.Now()
	}
	return procfs.Started(c.node.Boot, key)
}

// Sites are the stacks that profiles count by number.
func (l *Life) Sites(key sample.ProcessKey, first int, sites []sample.Site) error {
	if o := l.processes[key]; o != nil && first == len(o.sites) {
		o.sites = append(o.sites, slices.Clone(sites)...)
	}
	return nil
}

// SitesOf are the sites that were given of a process.
func (l *Life) SitesOf(key sample.ProcessKey) []sample.Site {
	if o := l.processes[key]; o != nil {
		return o.sites
	}
	return nil
}

// Point is a row a minute, and the end of those that are gone.
func (l *Life) Point(p *sample.Point) error {
	if g := p.Cgroup; g != nil && g.Limit.OK && g.Limit.V > 0 {
		l.part = float64(g.Usage) / float64(g.Limit.V)
	}
	for _, one := range p.Processes {
		o := l.processes[one.Key]
		if o == nil {
			continue
		}
		if p.Cgroup != nil {
			o.most = max(o.most, p.Cgroup.Usage)
		}
		if one.Resident == nil {
			l.end(one.Key, p.At)
			continue
		}
		if due(p.At, o.point, everyPoint) && one.Go != nil {
			o.point = p.At
			l.addPoint(o, p, one)
		}
		if o.heap.due(p.At) {
			l.hour(o, p.At)
		}
	}
	l.FlushLater(p.At)
	return nil
}

func (l *Life) addPoint(o *observed, p *sample.Point, one sample.Process) {
	row := Point{Tenant: o.row.Tenant, Service: o.row.Service, Process: o.row.Process, At: p.At, Resident: sample.Some(uint64(one.Resident.Anon())),
		HeapLive: sample.Some(uint64(one.Go.HeapMarked)), HeapInUse: sample.Some(uint64(one.Go.HeapInUse)),
		Goroutines: sample.Some(uint64(one.Go.Goroutines)), NumGC: sample.Some(uint64(one.Go.NumGC)), Written: l.written()}
	if limit := one.Go.MemoryLimit; limit > 0 && limit != sample.NoMemoryLimit {
		row.GoLimit = sample.Some(uint64(limit))
	}
	if g := p.Cgroup; g != nil {
		row.Usage, row.UsageMax = sample.Some(uint64(g.Usage)), sample.Some(uint64(o.most))
		if g.Limit.OK {
			row.Limit = sample.Some(uint64(g.Limit.V))
			if o.row.Limit != row.Limit {
				o.row.Limit, o.row.Written = row.Limit, l.written()
				add(l.Collector, Processes, o.row)
			}
		}
	}
	o.most = 0
	l.now(o.row, &row)
	add(l.Collector, Points, row)
}

// now is the last that is known of a process, nil: it is gone, or not watched any more.
func (c *Collector) now(p Process, point *Point) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if point == nil {
		delete(c.latest, p.Process)
		return
	}
	c.latest[p.Process] = gauge{labelsOf(p), *point}
}

// end is the last of a process.
func (l *Life) end(key sample.ProcessKey, at time.Time) {
	o := l.processes[key]
	l.now(o.row, nil)
	delete(l.processes, key)
	l.hour(o, at)
	o.row.Ended, o.row.Written = sample.Some(seconds(at)), l.written()
	add(l.Collector, Processes, o.row)
}

// Heap counts what each stack holds.
func (l *Life) Heap(key sample.ProcessKey, p *sample.HeapProfile) error {
	if o := l.processes[key]; o != nil && p != nil {
		l.look(o, p)
	}
	return nil
}

// Moment has heap profiles, too.
func (l *Life) Moment(m *sample.Moment) error {
	for i := range m.Processes {
		if o := l.processes[m.Processes[i].Key]; o != nil && m.Processes[i].Profile != nil {
			l.look(o, m.Processes[i].Profile)
		}
	}
	return nil
}

// look takes over a profile; where the hour has turned, the one before is sent first.
func (l *Life) look(o *observed, p *sample.HeapProfile) {
	if o.heap.over(p.At) {
		l.hour(o, p.At)
	}
	o.heap.look(o.sites, p, l.share)
}

// hour sends what the hour holds until now.
func (l *Life) hour(o *observed, at time.Time) {
	rows := o.heap.rows(at)
	for i := range rows {
		r := &rows[i].row
		r.Tenant, r.Service, r.Version, r.Process, r.Written = o.row.Tenant, o.row.Service, o.row.Version, o.row.Process, l.written()
		if s := rows[i].site; s != nil {
			l.name(r.Stack, stackOf(l.node.Tenant, r.Stack, *s, o.module))
		}
		add(l.Collector, HeapHours, *r)
	}
}

// Cycle, Event and Gap are for recordings.
func (l *Life) Cycle(sample.GCCycle) error { return nil }

// Event is no row.
func (l *Life) Event(sample.Event) error { return nil }

// Gap is no row.
func (l *Life) Gap(sample.Gap) error { return nil }

// Flush is called often: rows go on when it is time (FlushLater).
func (l *Life) Flush() error { return nil }

// Close sends what the watch has seen. Processes that run on have no end.
func (l *Life) Close() {
	for _, o := range l.processes {
		l.now(o.row, nil)
		l.hour(o, l.clock())
	}
	l.Collector.Flush()
}
