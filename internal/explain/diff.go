package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/heapdiff"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
)

// DiffSchema names the form of a Diff in JSON. Its fields are only ever added to.
const DiffSchema = "highwater.diff/1"

// Diff is how two moments differ: of one recording or of two. Amounts are bytes,
// a change is what there was more of after. No slice is nil.
type Diff struct {
	Schema      string   `json:"schema"`
	Before      DiffSide `json:"before"`
	After       DiffSide `json:"after"`
	SameProcess bool     `json:"same_process"`
	// Total and Ledger are the charge of the cgroup, else the anonymous memory of
	// the processes; a row that only one side has is 0 on the other.
	Total  Delta     `json:"total"`
	Ledger []DiffRow `json:"ledger"`
	// Heap is the sum of the lines.
	Heap Delta `json:"heap"`
	// Grew and Shrank are lines whose change is beyond two standard errors, the
	// greatest first; Same are the others.
	Grew   []DiffLine `json:"grew"`
	Shrank []DiffLine `json:"shrank"`
	Same   []DiffLine `json:"same"`
	// Allocated is what each run allocated in all, live or not, and AllocatedBy the
	// lines that it differs by: those whose change is beyond chance and a twentieth of
	// it, the greatest first. Empty for two moments of one process.
	Allocated   Delta      `json:"allocated"`
	AllocatedBy []DiffLine `json:"allocated_by"`
	// Notes say what is to be known of the comparison: other programs, other views.
	Notes []string `json:"notes"`
}

// DiffSide is one of the two moments.
type DiffSide struct {
	Recording string  `json:"recording"`
	Program   string  `json:"program"`
	PID       int     `json:"pid"`
	GoVersion string  `json:"go_version"`
	BuildID   string  `json:"build_id"`
	Moment    string  `json:"moment"`         // "kill", "peak", "last" or "time"
	At        string  `json:"at"`             // RFC 3339
	Elapsed   float64 `json:"moment_seconds"` // since the start
	View      string  `json:"view"`           // of the heap: "live", "published" or "none"
	Rate      int64   `json:"rate_bytes"`     // of its sampling
	OfCgroup  bool    `json:"of_cgroup"`
}

// Delta is one amount at both moments. Error is the standard error of the change:
// 0 for what was counted.
type Delta struct {
	Before int64 `json:"before_bytes"`
	After  int64 `json:"after_bytes"`
	Change int64 `json:"change_bytes"`
	Error  int64 `json:"error_bytes"`
}

// DiffRow is one row of the ledger.
type DiffRow struct {
	Name string `json:"name"`
	Delta
	Reclaimable bool `json:"reclaimable"`
}

// DiffLine is one line of code.
type DiffLine struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Delta
}

func delta(before, after int64, err float64) Delta {
	return Delta{before, after, after - before, int64(math.Round(err))}
}

// Compare says how two moments differ.
func Compare(before, after *Side) *Diff {
	d := &Diff{Schema: DiffSchema, Before: before.side(), After: after.side(), Ledger: []DiffRow{},
		Grew: []DiffLine{}, Shrank: []DiffLine{}, Same: []DiffLine{}, AllocatedBy: []DiffLine{}, Notes: []string{}}
	d.SameProcess = before.Subject == after.Subject && before.path == after.path
	d.ledgers(before.divide(before.Moment), after.divide(after.Moment))
	d.lines(before, after)
	if !d.SameProcess {
		d.allocated(before, after)
	}
	d.note(before, after)
	return d
}

func (s *Side) side() DiffSide {
	p := s.Program()
	out := DiffSide{Recording: s.Recording, Program: p.Name, PID: s.Subject.PID, Moment: s.At, At: s.Moment.At.Format(time.RFC3339Nano),
		Elapsed: s.seconds(s.Moment.At), View: s.View, OfCgroup: s.Moment.Cgroup != nil}
	if s.Profile.HeapProfile != nil {
		out.Rate = s.Profile.Rate
	}
	if p.Go != nil {
		out.GoVersion, out.BuildID = p.Go.Version, p.Go.BuildID
	}
	return out
}

// ledgers puts the rows of both side by side, greatest change first and what is
// unexplained last.
func (d *Diff) ledgers(before, after sample.Ledger) {
	d.Total = delta(int64(before.Total), int64(after.Total), 0)
	for _, r := range after.Rows {
		d.Ledger = append(d.Ledger, DiffRow{r.Name, delta(int64(before.Row(r.Name)), int64(r.Bytes), 0), r.Reclaimable})
	}
	for _, r := range before.Rows {
		if after.Row(r.Name) == 0 {
			d.Ledger = append(d.Ledger, DiffRow{r.Name, delta(int64(r.Bytes), 0, 0), r.Reclaimable})
		}
	}
	slices.SortStableFunc(d.Ledger, func(a, b DiffRow) int {
		return cmp.Or(cmp.Compare(abs(b.Change), abs(a.Change)), cmp.Compare(b.After, a.After))
	})
	d.Ledger = append(d.Ledger, DiffRow{sample.RowUnexplained, delta(before.Unexplained, after.Unexplained, 0), false})
}

// lines compares the heap profiles, where both sides have one.
func (d *Diff) lines(before, after *Side) {
	if before.View == "none" || after.View == "none" {
		return
	}
	var changes []heapdiff.Change
	if d.SameProcess {
		changes = heapdiff.Changes(before.Profile, after.Profile, after.Module())
	} else {
		same := d.Before.BuildID != "" && d.Before.BuildID == d.After.BuildID
		changes = heapdiff.Across(before.Profile, after.Profile, before.Module(), after.Module(), same)
	}
	var held, now int64
	err := 0.0
	for _, c := range changes {
		held, now, err = held+c.Before.Bytes, now+c.After.Bytes, math.Hypot(err, c.Error)
		l := DiffLine{c.Function, c.File, c.Line, delta(c.Before.Bytes, c.After.Bytes, c.Error)}
		switch {
		case c.Certain() && l.Change > 0:
			d.Grew = append(d.Grew, l)
		case c.Certain():
			d.Shrank = append(d.Shrank, l)
		case l.Before > 0 || l.After > 0:
			d.Same = append(d.Same, l)
		}
	}
	d.Heap = delta(held, now, err)
	slices.SortStableFunc(d.Same, func(a, b DiffLine) int { return cmp.Compare(b.After, a.After) })
}

func abs(n int64) int64 { return max(n, -n) }

// note says what a reader would else take for granted.
func (d *Diff) note(before, after *Side) {
	add := func(format string, args ...any) { d.Notes = append(d.Notes, fmt.Sprintf(format, args...)) }
	b, a := d.Before, d.After
	switch {
	case d.SameProcess:
	case before.Program().Name != after.Program().Name:
		add("two programs, %s and %s: lines are matched by function, file name and line number", orUnknown(b.Program), orUnknown(a.Program))
	case b.BuildID != a.BuildID:
		add("two builds of %s: a line that moved is matched by its function, if no other line of that function moved", orUnknown(a.Program))
	case before.path == after.path:
		add("two processes of %s: %d and %d", orUnknown(a.Program), b.PID, a.PID)
	}
	if b.OfCgroup != a.OfCgroup {
		add("one side is the memory usage of a cgroup, the other the private memory of processes; only the first includes page cache and kernel memory")
	}
	for _, s := range []*Side{before, after} {
		s.noteProfile(add)
	}
	if b.View == "published" && a.View == "published" {
		add("the lines come from the program's own heap profiles, which lag by up to two GCs: %s before, %s after", units.Size(d.Heap.Before), units.Size(d.Heap.After))
	}
	if b.View != a.View && b.View != "none" && a.View != "none" {
		add("%s shows what was reachable; %s shows the program's own heap profile, which lags by up to two GCs", viewed(b, a, "live"), viewed(b, a, "published"))
	}
	if b.Rate != a.Rate && b.Rate > 0 && a.Rate > 0 {
		add("sampled 1 per %s before and 1 per %s after", units.Limit(b.Rate), units.Limit(a.Rate))
	}
}

// viewed names the side of that view.
func viewed(before, after DiffSide, view string) string {
	if before.View == view {
		return "before"
	}
	return "after"
}

// noteProfile says that a side's profile is of another time, or where the nearest
// one is.
func (s *Side) noteProfile(add func(string, ...any)) {
	moment := units.Duration(durationOf(s.seconds(s.Moment.At)))
	switch {
	case s.View == "none" && s.First.IsZero():
		add("%s has no heap profile of %s: lines cannot be compared%s", s.Recording, orUnknown(s.Program().Name), because(s.Program().WhyNot))
	case s.View == "none":
		add("%s has no heap profile at %s or before; the nearest is at %s", s.Recording, moment, flagTime(s.seconds(s.First)))
	case s.Moment.At.Sub(s.Taken) > time.Second:
		add("%s has no heap profile at %s; the nearest before it, of %s, is taken", s.Recording, moment, flagTime(s.seconds(s.Taken)))
	}
}

// flagTime is a time since the start as --from and --to read it: "12.4s".
func flagTime(seconds float64) string {
	return durationOf(math.Ceil(seconds*10) / 10).String()
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func orUnknown(name string) string {
	if name == "" {
		return "an unknown program"
	}
	return name
}
