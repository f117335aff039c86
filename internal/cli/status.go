package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
)

const (
	statusEvery = 200 * time.Millisecond // on a terminal
	plainEvery  = 10 * time.Second       // elsewhere
)

// eraseLine goes to the line's beginning and empties it (ECMA-48, EL).
const eraseLine = "\r\x1b[K"

// status is the line that says how the program does: rewritten in place on a
// terminal, a plain line now and then elsewhere.
type status struct {
	w        io.Writer
	terminal bool

	mu      sync.Mutex
	start   time.Time
	last    time.Time
	lastUse sample.Bytes
	drawn   bool
}

func newStatus(w io.Writer) *status {
	return &status{w: w, terminal: isTerminal(w)}
}

// say prints a line of progress above the live line; what is in args makes no other.
func (s *status) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	visible.Fprintf(s.w, format+"\n", args...)
}

// end removes the live line.
func (s *status) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

func (s *status) clear() {
	if s.drawn {
		_, _ = io.WriteString(bare(s.w), eraseLine)
		s.drawn = false
	}
}

// point draws a full point, if one is due.
func (s *status) point(p *sample.Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.start.IsZero() {
		s.start, s.last = p.At, p.At
		s.lastUse, _ = figures(p) // what a program has as its watch begins is no growth
	}
	every := plainEvery
	if s.terminal {
		every = statusEvery
	}
	since := p.At.Sub(s.last)
	if since < every {
		return
	}
	line := s.line(p, since)
	s.last = p.At
	if !s.terminal {
		visible.Fprintf(s.w, "%s\n", line)
		return
	}
	_, _ = io.WriteString(bare(s.w), eraseLine)
	visible.Fprintf(s.w, "%s", line)
	s.drawn = true
}

func (s *status) line(p *sample.Point, since time.Duration) string {
	use, parts := figures(p)
	growth := float64(int64(use)-int64(s.lastUse)) / since.Seconds()
	s.lastUse = use
	parts = append([]string{fmt.Sprintf("%6s", elapsed(p.At.Sub(s.start)))}, parts...)
	if growth > float64(sample.MiB) {
		parts = append(parts, "growing "+units.Rate(growth))
	}
	return strings.Join(parts, "  ")
}

// elapsed counts in whole seconds, then minutes.
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return units.Duration(d.Truncate(time.Second))
}

// figures are what one looks at: the memory against its limit, and the Go heap
// against its goal.
func figures(p *sample.Point) (sample.Bytes, []string) {
	var use, heap, goal sample.Bytes
	programs, seen := 0, false
	for i := range p.Processes {
		if r := p.Processes[i].Resident; r != nil {
			use += r.Total
		}
		if g := p.Processes[i].Go; g != nil {
			heap, goal, seen = heap+g.HeapLive, goal+g.HeapGoal, true
		}
		programs++
	}
	var parts []string
	switch c := p.Cgroup; {
	case c == nil:
		parts = append(parts, units.Size(use)+" resident")
	case c.Limit.OK:
		use = c.Usage
		parts = append(parts, fmt.Sprintf("%s of %s  %s", units.Size(c.Usage), units.Limit(c.Limit.V), units.Percent(float64(c.Usage), float64(c.Limit.V))))
	default:
		use = c.Usage
		parts = append(parts, units.Size(c.Usage))
	}
	if seen {
		parts = append(parts, fmt.Sprintf("Go heap %s, goal %s", units.Size(heap), units.Size(goal)))
	}
	if programs > 1 {
		parts = append(parts, fmt.Sprintf("%d processes", programs))
	}
	return use, parts
}
