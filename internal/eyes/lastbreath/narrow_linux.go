package lastbreath

import "time"

// The budget of stops. Measured on 2 busy cores, a stop costs 15 us of CPU time
// in the program and 150 us here, as it wakes a thread that slept: 0.1 % of a
// core for ever, and 10 ms once. What exceeds it is busy: one busy thread is
// sent 50 signals a second (SIGURG, by sysmon), a program that collects garbage
// without a pause 300. One that starts others and waits for them gets next to
// none.
const (
	stopsPerSecond = 5
	stopsAtOnce    = 60
)

// budget is what a process has been stopped for: until when it has to be left in
// peace for the mean to be kept.
type budget struct{ until time.Time }

// spend adds a stop and reports whether the budget holds.
func (b *budget) spend(now time.Time) bool {
	if b.until.Before(now) {
		b.until = now
	}
	b.until = b.until.Add(time.Second / stopsPerSecond)
	return b.until.Sub(now) <= stopsAtOnce*time.Second/stopsPerSecond
}

// spend counts a stop that following forks has cost a Go program, and narrows
// the program where that becomes too much.
func (t *Tracer) spend(p *proc) {
	if !p.goProgram || p.narrow || t.options.FollowForks == Always || p.spent.spend(time.Now()) {
		return
	}
	t.narrow(p)
	t.tellNarrowed(p)
}

// narrow makes one thread of a process stay traced and the others leave, as soon
// as they have stopped. Until then each of them still tells of the process's
// death, and afterwards the one that stays, so none is missed.
func (t *Tracer) narrow(p *proc) {
	p.narrow = true
	if p.quiet == nil {
		p.quiet = anyOf(p)
	}
	p.quiet.options = traceExit
	for _, k := range p.tasks {
		k.leaving = k != p.quiet
		interrupt(k.tid)
	}
}

// anyOf is a traced thread of a process, not the first if there is another:
// signals to a process go to its first thread where that is possible.
func anyOf(p *proc) *task {
	for tid, k := range p.tasks {
		if tid != p.pid {
			return k
		}
	}
	return p.tasks[p.pid]
}

func (t *Tracer) tellNarrowed(p *proc) {
	if t.handler.Narrowed != nil {
		t.handler.Narrowed(p.pid)
	}
}
