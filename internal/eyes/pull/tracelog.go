package pull

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// TraceLog is what a log holds of gctrace lines.
type TraceLog struct {
	Processes []*TraceProcess // in the order in which they were first seen
	Torn      int             // lines that began as one and were mixed with other output

	// passed is the time that passed at least from the first line to the last one
	// read, as far as the progress of single processes tells.
	passed time.Duration
}

// TraceProcess is the collections of one process, in their order.
type TraceProcess struct {
	// Label is what its lines have before them but for times: the name that a
	// supervisor gave to it; "" for none.
	Label       string
	Collections []Collection
	// Began is when the process started, by the times before its lines; zero where
	// they have none.
	Began time.Time

	passed time.Duration // TraceLog.passed when its last line was read
}

// Last is the process's last collection.
func (p *TraceProcess) Last() Collection { return p.Collections[len(p.Collections)-1] }

// maxLogLine is the longest line that is read; what a longer one has beyond that
// is passed over.
const maxLogLine = 64 << 10

// ReadTrace reads a log of one process or several, whose lines may be mixed with
// each other and with other output. It returns ErrEmpty for an empty log and
// ErrNoCollector for one without a line of the collector.
func ReadTrace(r io.Reader) (*TraceLog, error) {
	var log TraceLog
	in := bufio.NewReaderSize(r, maxLogLine)
	read := 0
	for {
		line, err := in.ReadSlice('\n')
		read += len(line)
		log.add(string(bytes.TrimRight(line, "\r\n")))
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case read == 0:
		return nil, ErrEmpty
	case len(log.Processes) == 0:
		return nil, ErrNoCollector
	}
	return &log, nil
}

func (log *TraceLog) add(line string) {
	prefix, c, torn, ok := ParseCollection(line)
	if torn {
		log.Torn++
	}
	if !ok {
		return
	}
	label, at := splitPrefix(prefix)
	p := log.processOf(label, c)
	if p == nil {
		p = &TraceProcess{Label: label}
		log.Processes = append(log.Processes, p)
	} else {
		log.passed = max(log.passed, p.passed+c.End()-p.Last().End())
	}
	p.passed = log.passed
	if p.Began.IsZero() && !at.IsZero() {
		p.Began = at.Add(-c.End())
	}
	p.Collections = append(p.Collections, c)
}

// processOf is the process that a collection belongs to: of those with its
// label whose last number and time are smaller and whose heap it can follow, the
// one with as many Ps whose next number it is, or the nearest before it. Lines are
// written in the order of time, so that a process cannot have stood still while
// another went on. Nil: a new one's.
func (log *TraceLog) processOf(label string, c Collection) (best *TraceProcess) {
	if c.N == 1 {
		return nil
	}
	for _, p := range log.Processes {
		last := p.Last()
		if p.Label != label || last.N >= c.N || last.End() > c.Start+roundedTime || !follows(last, c) {
			continue
		}
		if log.passed-p.passed > c.End()-last.End()+lineTime {
			continue // others have come further in the meantime
		}
		if best == nil || nearer(last, best.Last(), c) {
			best = p
		}
	}
	return best
}

// roundedTime is how far a time with three digits behind the point can stray.
const roundedTime = time.Millisecond

// lineTime is how much later than its collection a line may be written.
const lineTime = 5 * time.Millisecond

// follows reports whether from one collection to the next the heap only grows.
func follows(last, c Collection) bool {
	return c.N > last.N+1 || c.HeapAtStart+sample.MiB >= last.Live
}

// nearer reports whether c follows a rather than b: the one with its number of Ps, which hardly any program changes; then
// the one with the greater number; then the one whose next goal at GOGC=100 is nearer to c's; else the later one.
func nearer(a, b, c Collection) bool {
	if same := a.Procs == c.Procs; same != (b.Procs == c.Procs) {
		return same
	}
	if a.N != b.N {
		return a.N > b.N
	}
	if x, y := astray(a, c), astray(b, c); x != y {
		return x < y
	}
	return a.Start > b.Start
}

// astray is how far c's goal lies from the one that last leads to at GOGC=100,
// which is 4 MiB at least.
func astray(last, c Collection) sample.Bytes {
	want := max(2*last.Live, 4*sample.MiB)
	return max(want, c.Goal) - min(want, c.Goal)
}

var (
	// stamp is a time as loggers write it: RFC 3339 with a T or a space, or Go's
	// own package log.
	stamp = regexp.MustCompile(`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?`)
	// clock is a time of day, and the date that syslog puts before it.
	clock = regexp.MustCompile(`(?:[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?`)
)

// splitPrefix takes a prefix apart: a label without times, and the time, zero
// where it is not a whole date.
func splitPrefix(prefix string) (label string, at time.Time) {
	if found := stamp.FindString(prefix); found != "" {
		at = stampTime(found)
	}
	label = clock.ReplaceAllString(stamp.ReplaceAllString(prefix, ""), "")
	return strings.Trim(label, " \t|:"), at
}

// stampTime reads a stamp; one without a zone is of this machine's.
func stampTime(text string) time.Time {
	text = strings.NewReplacer("/", "-", "T", " ", ",", ".").Replace(text)
	for _, layout := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t
		}
	}
	return time.Time{}
}
