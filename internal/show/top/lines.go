package top

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Lines are the lines of code that allocated what is in a process's heap, live or not
// yet swept, as its heap profile says: own code first. What the program's own profile
// says is up to two collections old, too old for a live view; package explain tells
// live from dead.
type Lines struct {
	At    time.Time     // of the profile
	Since time.Duration // before it was the one that growth is counted from; 0: none
	Rate  int64         // bytes a sample
	Total int64
	List  []HeapLine
	Why   string // there are none
}

// HeapLine is one line of code. Amounts are bytes, scaled.
type HeapLine struct {
	sample.Place
	Owner         heapdiff.Owner
	Bytes, Growth int64
	Error         float64
}

// growthOver is the time that a line's growth is counted over.
const growthOver = time.Minute

// lineReader reads one process's lines from its recording while that is written. It
// is used by one goroutine at a time.
type lineReader struct {
	of     id
	module string
	reader *recording.Reader
	last   int64 // number of the profile that lines is of
	lines  *Lines
}

func (r *lineReader) close() {
	if r.reader != nil {
		r.reader.Close()
	}
}

// read gives the lines of the latest profile; those that it gave before where there
// is no new one.
func (r *lineReader) read() (*Lines, error) {
	if r.reader == nil {
		reader, err := recording.Open(r.of.life.Path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", r.of.life.Path, err)
		}
		r.reader = reader
	} else if err := r.reader.Refresh(); err != nil {
		return nil, err
	}
	latest, err := r.reader.ProfileBefore(r.of.process, endOfTime)
	if errors.Is(err, recording.ErrMissing) {
		r.lines = &Lines{}
		return r.lines, nil
	}
	if err != nil {
		return nil, err
	}
	if latest.ID == r.last {
		return r.lines, nil
	}
	lines, err := r.linesOf(latest)
	if err == nil {
		r.last, r.lines = latest.ID, lines
	}
	return lines, err
}

// endOfTime is later than any time of a recording.
var endOfTime = time.Unix(0, math.MaxInt64-1)

func (r *lineReader) linesOf(latest recording.ProfileInfo) (*Lines, error) {
	profile, err := r.reader.Profile(latest.ID)
	if err != nil {
		return nil, err
	}
	sites, err := r.reader.SitesOf(latest.ID)
	if err != nil {
		return nil, err
	}
	lines := &Lines{At: latest.At, Rate: profile.Rate}
	var base *sample.HeapProfile
	before, err := r.earlier(latest.At.Add(-growthOver))
	if err != nil {
		return nil, err
	}
	if before.ID != latest.ID {
		if base, err = r.reader.Profile(before.ID); err != nil {
			return nil, err
		}
		lines.Since = latest.At.Sub(before.At)
	}
	for _, h := range heapdiff.Holders(heapdiff.Profile{Sites: sites, HeapProfile: profile}, base, heapdiff.Now, r.module) {
		if h.InUse.Bytes > 0 {
			lines.Total += h.InUse.Bytes
			lines.List = append(lines.List, HeapLine{h.Frame.Place(), h.Owner, h.InUse.Bytes, h.Growth.Bytes, h.Error})
		}
	}
	sorting.Stable(lines.List, func(a, b HeapLine) int { return ownFirst(a) - ownFirst(b) })
	return lines, nil
}

func ownFirst(l HeapLine) int {
	if l.Owner == heapdiff.Own {
		return 0
	}
	return 1
}

// earlier is the last profile before a time, else the first.
func (r *lineReader) earlier(at time.Time) (recording.ProfileInfo, error) {
	before, err := r.reader.ProfileBefore(r.of.process, at)
	if errors.Is(err, recording.ErrMissing) {
		return r.reader.FirstProfile(r.of.process)
	}
	return before, err
}

// code is where a line is, in short.
func (l HeapLine) code() string {
	if l.File == "" || l.Owner == heapdiff.Runtime {
		return "the Go runtime (internal)"
	}
	return fmt.Sprintf("%s:%d", explain.ShortFile(l.File), l.Line)
}
