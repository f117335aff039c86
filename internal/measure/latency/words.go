package latency

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/units"
)

// slowWords says in a sentence or two what the slow requests coincide with.
func (run *Run) slowWords(l *Latency) string {
	s := l.Slow
	switch {
	case l.Requests == 0:
		return "No request was answered: " + l.Failures[0].Why
	case l.P99 == nil:
		return "Too few requests were made to tell slow ones from others"
	case s.Requests == 0:
		return fmt.Sprintf("No request was slow: 99 of 100 were answered within %s, the fastest tenth within %s", duration(*l.P99), duration(l.p10))
	}
	text := fmt.Sprintf("%s of %s or more came in %s", units.Count(s.Requests, "wait"), duration(s.Threshold), units.Count(s.Episodes, "episode"))
	if s.Episodes < fewEpisodes {
		return text + ", which is too few to tell their cause" + run.hintOf(s)
	}
	first := s.Causes[0]
	if all := marked(s.Causes); !first.Coincides && all > 0.5 {
		return fmt.Sprintf("%s. GC ran for %s of all the time, so nearly every request met it%s", text, units.Share(all), run.assistWords())
	}
	if !first.Coincides {
		return text + ". These waits do not coincide with " + run.notWith(s)
	}
	text += fmt.Sprintf(". In %s of that time %s, against %s of all the time (by chance: %s)",
		units.Share(first.OfSlow), causeWords[first.Cause], units.Share(first.OfAll), chance(first.Chance))
	if first.Cause == "collections" {
		text += run.assistWords()
	}
	return text
}

// marked is the part of all the time in which the collector marked.
func marked(causes []Tie) float64 {
	for _, t := range causes {
		if t.Cause == "collections" {
			return t.OfAll
		}
	}
	return 0
}

// causeWords say what went on.
var causeWords = map[string]string{"collections": "GC was running", "stalls": "tasks waited for memory",
	"reclaim": "the kernel reclaimed memory at the limit or read pages again", "highwater": "highwater was reading the program's memory"}

// hintOf names what went on in the few episodes that there are.
func (run *Run) hintOf(s Slow) string {
	if first := s.Causes[0]; first.OfSlow > 1.0/2 && first.OfAll < 1.0/4 {
		return fmt.Sprintf(". In %s of that time %s", units.Share(first.OfSlow), causeWords[first.Cause])
	}
	return ""
}

// notWith lists what was looked at, with its figures.
func (run *Run) notWith(s Slow) string {
	var parts []string
	for _, t := range s.Causes {
		if t.OfAll > 0 && t.Cause != "highwater" {
			parts = append(parts, fmt.Sprintf("%s (%s of their time, %s of all)", t.Cause, units.Share(t.OfSlow), units.Share(t.OfAll)))
		}
	}
	if len(parts) == 0 {
		return "anything that was seen: no GC, no stall, no reclaim"
	}
	return units.List(parts, "or")
}

// assistWords say how much the program's own goroutines had to help the collector.
func (run *Run) assistWords() string {
	if math.IsNaN(run.Assist) || run.Assist < 0.05 {
		return ""
	}
	return fmt.Sprintf(". Goroutines that allocated had to help GC for %s of CPU time", units.Seconds(run.Assist))
}

// chance is a probability in words.
func chance(p float64) string {
	if p <= 1.0/(shifts+1) {
		return fmt.Sprintf("less than 1 in %d", shifts+1)
	}
	return fmt.Sprintf("1 in %.0f", 1/p)
}

// duration is a latency with as many digits as say something.
func duration(ns int64) string {
	d := time.Duration(ns)
	if d < 100*time.Millisecond && d >= time.Millisecond {
		return strings.Replace(fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)), ".0 ms", " ms", 1)
	}
	if d < time.Millisecond {
		return fmt.Sprintf("%d µs", d.Microseconds())
	}
	return units.Duration(d)
}

// Line is the percentiles in one line.
func (l *Latency) Line() string {
	if l.Requests == 0 {
		return fmt.Sprintf("%s of %s, none answered", units.Count(l.Failed, "request"), l.Probe)
	}
	text := fmt.Sprintf("%s of %s: p50 %s, p90 %s", units.Count(l.Requests, "request"), l.Probe, duration(l.P50), duration(l.P90))
	if l.P99 != nil {
		text += ", p99 " + duration(*l.P99)
	}
	if l.P999 != nil {
		text += ", p99.9 " + duration(*l.P999)
	}
	text += ", max " + duration(l.Max)
	if l.NoAnswer > 0 {
		text += fmt.Sprintf("; %d had no answer in time", l.NoAnswer)
	}
	if l.Failed > 0 {
		text += fmt.Sprintf("; %d failed (%s)", l.Failed, l.Failures[0].Why)
	}
	return text
}
