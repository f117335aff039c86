package web

import (
	"errors"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Instant is all that the page shows of one instant: where the memory was, who held
// it, who stood where. Seconds are since the start, amounts bytes. No list is null.
type Instant struct {
	At   float64 `json:"at"`   // that was asked for
	Name string  `json:"name"` // "kill", "peak", "last", or "" for a time
	// Moment is the nearest one at which all was read: holders and goroutines are of
	// it, and the ledger where Pages is true. Apart is how far away it is.
	Moment  float64 `json:"moment"`
	Apart   float64 `json:"apart"`
	Kind    string  `json:"kind"`
	Took    float64 `json:"took"`
	Stopped float64 `json:"stopped"`
	Pages   bool    `json:"pages"`
	Ledger  Ledger  `json:"ledger"`
	Heap    Heap    `json:"heap"`
	// Capture is when the heap was captured that is nearest to the moment; null: never.
	Capture   *float64 `json:"capture"`
	Untouched int64    `json:"untouched"` // reserved by the processes and never touched: in no row of the ledger

	Native     []Native          `json:"native"`
	Grown      []Grown           `json:"grown"`       // empty: page faults were not sampled
	NativeLive *NativeLive       `json:"native_live"` // null: C's calls were not followed
	Goroutines []Goroutines      `json:"goroutines"`
	Processes  []explain.Process `json:"processes"`
	Gaps       []explain.Gap     `json:"gaps"`
	Settings   []Setting         `json:"settings"` // of the Go runtime then
}

// Ledger is where the memory was. Rows and the unexplained rest sum to the total.
type Ledger struct {
	Total       int64  `json:"total"`
	Limit       *int64 `json:"limit"`
	Unexplained int64  `json:"unexplained"`
	OfCgroup    bool   `json:"of_cgroup"`
	Rows        []Row  `json:"rows"`
}

// Row is one part of it.
type Row struct {
	Name        string `json:"name"`
	Word        string `json:"word"`  // what it is called
	Group       string `json:"group"` // the greater part that it belongs to
	Bytes       int64  `json:"bytes"`
	Reclaimable bool   `json:"reclaimable"`
	Means       string `json:"means"`
	// Parts are what of it is known apart, the largest first; empty: nothing.
	Parts []explain.RowPart `json:"parts"`
}

// Native is what of one process lies outside Go's heap, by its pages.
type Native struct {
	PID    int    `json:"pid"`
	Name   string `json:"name"`
	Malloc int64  `json:"malloc"` // the C library's heap and arenas
	Mapped int64  `json:"mapped"` // other anonymous mappings
	Image  int64  `json:"image"`  // written pages of the executable and of libraries
}

// sameInstant is how far a moment may be from the time that is asked for and still
// be shown as of that time.
const sameInstant = 0.05

// Instant reads what was at one time, "kill", "peak", "last" or as explain --at has
// it. Growth is since the time from, or with "" since the floor before the last
// rise.
func (b *Book) Instant(at, from string) (i *Instant, err error) {
	err = b.main.read(b.opener(), b.Path, func(r *recording.Reader) error {
		i, err = once(&b.parts, at+" "+from, func() (*Instant, bool, error) {
			i, err := b.instant(r, at, from)
			if err == nil && b.Redact {
				i.redact()
			}
			return i, !r.Live(), err
		})
		return err
	})
	return i, err
}

func (b *Book) instant(r *recording.Reader, at, from string) (*Instant, error) {
	e, err := b.load(r)
	if err != nil {
		return nil, err
	}
	if at != "" {
		if e, err = explain.LoadAgain(r, b.Path, at, e); err != nil {
			return nil, err
		}
	}
	side, err := moment.Of(r, b.Path, e, nil)
	if err != nil {
		return nil, err
	}
	a, err := explain.Explain(side.Evidence, nil)
	if err != nil {
		return nil, err
	}
	m := &side.Moment
	i := &Instant{Name: side.At, Moment: side.Seconds(m.At), Kind: string(m.Kind), Took: m.Took.Seconds(), Stopped: m.Stopped.Seconds(),
		Pages: true, Processes: a.Program.Processes, Gaps: a.Gaps, Settings: []Setting{}}
	i.At = i.Moment
	if i.Name == "time" {
		i.Name = ""
		if d, err := time.ParseDuration(at); err == nil {
			i.At = d.Seconds()
		}
	}
	i.Apart = i.At - i.Moment
	if c := side.Evidence.Heap; c != nil {
		i.Capture = pointer(side.Seconds(c.At))
	}
	if err := i.fillLedger(r, side.Evidence, a); err != nil {
		return nil, err
	}
	if i.Heap, err = b.heap(r, side, a, from); err != nil {
		return nil, err
	}
	if i.Grown, err = b.grown(r, side, a); err != nil {
		return nil, err
	}
	i.NativeLive = b.nativeLive(side)
	i.fillProcess(side)
	return i, nil
}

// fillLedger divides the moment where it is of this instant, else the sample.
func (i *Instant) fillLedger(r *recording.Reader, e *explain.Evidence, a *explain.Answer) error {
	l, limit := a.Ledger, a.Outcome.LimitBytes
	if i.Apart < -sameInstant || i.Apart > sameInstant {
		p, err := fullPoint(r, e.Start.Add(time.Duration(i.At*1e9)))
		if err != nil {
			return err
		}
		if p != nil {
			l, i.Pages, i.At = e.LedgerAt(p), false, e.Seconds(p.At)
		}
	}
	i.Ledger = Ledger{Total: int64(l.TotalBytes), Unexplained: l.UnexplainedBytes, OfCgroup: l.OfCgroup, Rows: []Row{}}
	if limit != nil {
		i.Ledger.Limit = pointer(int64(*limit))
	}
	for _, row := range l.Rows {
		d := definitions[row.Name]
		i.Ledger.Rows = append(i.Ledger.Rows, Row{row.Name, explain.RowWord(row.Name), d.group, int64(row.Bytes), row.Reclaimable, d.means,
			append([]explain.RowPart{}, row.Parts...)})
	}
	return nil
}

// densePoints bounds the search for a full point: between full ones, near the
// limit, there are points that have read the charge alone.
const densePoints = 200

// fullPoint is the last point at or before a time that looked at the processes;
// nil: there is none near.
func fullPoint(r *recording.Reader, at time.Time) (*sample.Point, error) {
	for range densePoints {
		p, err := r.PointAt(at)
		if errors.Is(err, recording.ErrMissing) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, one := range p.Processes {
			if one.Resident != nil {
				return p, nil
			}
		}
		at = p.At.Add(-1)
	}
	return nil, nil
}

// fillProcess is what the moment says of the process that it is about.
func (i *Instant) fillProcess(side *moment.Profiled) {
	i.Goroutines, i.Native = []Goroutines{}, []Native{}
	for n := range side.Moment.Processes {
		p := &side.Moment.Processes[n]
		if r := p.Residency; r != nil {
			i.Untouched += int64(r.Untouched)
			i.Native = append(i.Native, Native{p.Key.PID, nameOf(i.Processes, p.Key.PID), int64(r.CMalloc), int64(r.Mmap), int64(r.Image)})
		}
		if p.Key != side.Subject {
			continue
		}
		i.Goroutines = goroutinesOf(p.Goroutines, side.Module())
		if p.Go != nil {
			i.Settings = settingsOf(p.Go)
		}
		if p.Incomplete != "" {
			i.Gaps = append(i.Gaps, explain.Gap{What: "the moment", Why: p.Incomplete})
		}
	}
}

func nameOf(list []explain.Process, pid int) string {
	for _, p := range list {
		if p.PID == pid {
			return p.Name
		}
	}
	return ""
}

// baseline is the profile that growth is counted from, and when it was.
func baseline(r *recording.Reader, side *moment.Profiled, from string) (*sample.HeapProfile, *float64, error) {
	if side.View == "none" {
		return nil, nil, nil
	}
	var p *sample.HeapProfile
	var err error
	if from == "" {
		p, err = side.Baseline(r)
	} else if d, bad := time.ParseDuration(from); bad != nil {
		return nil, nil, fmt.Errorf("%w: %q", explain.ErrAt, from)
	} else if p, err = r.ProfileAt(side.Subject, side.Start.Add(d)); errors.Is(err, recording.ErrMissing) {
		return nil, pointer(d.Seconds()), nil // nothing was held that the profile knew of
	} else {
		p = heapdiff.AsPublished(p)
	}
	if err != nil || p == nil {
		return nil, nil, err
	}
	return p, pointer(side.Seconds(p.At)), nil
}
