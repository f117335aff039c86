package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

const (
	statusEvery = 200 * time.Millisecond // on a terminal
	newsFor     = 3 * time.Second        // for which news is part of the live line
	growthOver  = time.Second            // growth is measured over this time at least
)

// status tells how a program does: by one line that is rewritten in place on a terminal,
// and by lines of their own for what must be said. While a program that run started
// writes to the same place, what can wait waits for its end.
type status struct {
	w    io.Writer
	live *live

	mu      sync.Mutex
	what    string // the line begins with it
	source  any    // of the last point
	start   time.Time
	last    time.Time // drawn
	growth  float64   // bytes a second
	since   time.Time // growth is measured from there
	had     sample.Bytes
	news    string
	newsAt  time.Time
	held    bool
	waiting []string // lines to be said once nothing is held
}

func newStatus(w io.Writer) *status { return &status{w: w, live: newLive(w)} }

// say prints a line above the live line, or keeps it until release; what is in args makes
// no other line. A line that waits already is not repeated.
func (s *status) say(format string, args ...any) {
	var line strings.Builder
	visible.Fprintf(&line, format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held {
		s.print(line.String())
		return
	}
	s.setNews(line.String())
	if !slices.Contains(s.waiting, line.String()) {
		s.waiting = append(s.waiting, line.String())
	}
}

// warn prints a line at once.
func (s *status) warn(format string, args ...any) {
	var line strings.Builder
	visible.Fprintf(&line, format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.print(line.String())
}

// tell shows a line of what goes well: for a while in the live line, else as say does
// unless lines are held.
func (s *status) tell(format string, args ...any) {
	var line strings.Builder
	visible.Fprintf(&line, format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held || s.live.terminal {
		s.setNews(line.String())
		return
	}
	s.print(line.String())
}

func (s *status) setNews(line string) { s.news, s.newsAt = line, time.Now() }

func (s *status) print(line string) {
	s.live.clear()
	_, _ = io.WriteString(s.w, line+"\n") // shown already; nobody reads: the work goes on
}

// hold keeps back what can wait, until release.
func (s *status) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
}

// release says what waited.
func (s *status) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.waiting {
		s.print(line)
	}
	s.held, s.waiting = false, nil
}

// about begins the live line with a name.
func (s *status) about(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.what = what + " "
}

// end removes the live line.
func (s *status) end() { s.live.clear() }

// point draws a full point of a source, if one is due.
func (s *status) point(source any, p *sample.Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	use, parts := figures(p)
	if source != s.source { // what a program has as its watch begins is no growth
		s.source, s.start, s.last, s.since, s.had, s.growth = source, p.At, p.At, p.At, use, 0
		return
	}
	if d := p.At.Sub(s.since); d >= growthOver {
		s.growth = float64(int64(use)-int64(s.had)) / d.Seconds()
		s.since, s.had = p.At, use
	}
	if p.At.Sub(s.last) < statusEvery {
		return
	}
	s.last = p.At
	s.live.draw(s.line(p.At, parts))
}

func (s *status) line(at time.Time, parts []string) string {
	parts = append([]string{s.what + fmt.Sprintf("%6s", elapsed(at.Sub(s.start)))}, parts...)
	if s.growth > float64(sample.MiB) {
		parts = append(parts, "growing "+units.Rate(s.growth))
	}
	if s.news != "" && time.Since(s.newsAt) < newsFor {
		parts = append(parts, s.news)
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
		parts = append(parts, fmt.Sprintf("Go heap %s, GC target %s", units.Size(heap), units.Size(goal)))
	}
	if programs > 1 {
		parts = append(parts, fmt.Sprintf("%d processes", programs))
	}
	return use, parts
}
