// Package compare puts two moments side by side, of one recording or of two: what grew and what shrank, by
// rows of the ledger and by lines of code.
package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/units"
)

// Schema names the form of a Diff in JSON. Its fields are only ever added to.
const Schema = "highwater.diff/1"

// Diff is how two moments differ: of one recording or of two. Amounts are bytes,
// a change is what there was more of after. No slice is nil.
type Diff struct {
	Schema      string      `json:"schema"`
	Before      moment.Side `json:"before"`
	After       moment.Side `json:"after"`
	SameProcess bool        `json:"same_process"`
	// Total and Ledger are the charge of the cgroup, else the anonymous memory of
	// the processes; a row that only one side has is 0 on the other.
	Total  Delta `json:"total"`
	Ledger []Row `json:"ledger"`
	// Heap is the sum of the lines.
	Heap Delta `json:"heap"`
	// Grew and Shrank are lines whose change is beyond two standard errors, the
	// greatest first; Same are the others.
	Grew   []Line `json:"grew"`
	Shrank []Line `json:"shrank"`
	Same   []Line `json:"same"`
	// Allocated is what each run allocated in all, live or not, and AllocatedBy the
	// lines that it differs by: those whose change is beyond chance and a twentieth of
	// it, the greatest first. Empty for two moments of one process.
	Allocated   Delta  `json:"allocated"`
	AllocatedBy []Line `json:"allocated_by"`
	// Notes say what is to be known of the comparison: other programs, other views.
	Notes []string `json:"notes"`
}

// Delta is one amount at both moments. Error is the standard error of the change:
// 0 for what was counted.
type Delta struct {
	Before int64 `json:"before_bytes"`
	After  int64 `json:"after_bytes"`
	Change int64 `json:"change_bytes"`
	Error  int64 `json:"error_bytes"`
}

// Row is one row of the ledger.
type Row struct {
	Name string `json:"name"`
	Delta
	Reclaimable bool `json:"reclaimable"`
}

// Line is one line of code.
type Line struct {
	sample.Place
	Delta
}

func delta(before, after int64, err float64) Delta {
	return Delta{before, after, after - before, int64(math.Round(err))}
}

// Moments says how two moments differ.
func Moments(before, after *moment.Profiled) *Diff {
	d := &Diff{Schema: Schema, Before: before.Side(), After: after.Side(), Ledger: []Row{},
		Grew: []Line{}, Shrank: []Line{}, Same: []Line{}, AllocatedBy: []Line{}, Notes: []string{}}
	d.SameProcess = before.Subject == after.Subject && before.Path == after.Path
	d.ledgers(before.Divided(), after.Divided())
	d.lines(before, after)
	if !d.SameProcess {
		d.allocated(before, after)
	}
	d.note(before, after)
	return d
}

// ledgers puts the rows of both side by side, greatest change first and what is
// unexplained last.
func (d *Diff) ledgers(before, after sample.Ledger) {
	d.Total = delta(int64(before.Total), int64(after.Total), 0)
	for _, r := range after.Rows {
		d.Ledger = append(d.Ledger, Row{r.Name, delta(int64(before.Row(r.Name)), int64(r.Bytes), 0), r.Reclaimable})
	}
	for _, r := range before.Rows {
		if after.Row(r.Name) == 0 {
			d.Ledger = append(d.Ledger, Row{r.Name, delta(int64(r.Bytes), 0, 0), r.Reclaimable})
		}
	}
	sorting.Stable(d.Ledger, func(a, b Row) int {
		return cmp.Or(cmp.Compare(abs(b.Change), abs(a.Change)), cmp.Compare(b.After, a.After))
	})
	d.Ledger = append(d.Ledger, Row{sample.RowUnexplained, delta(before.Unexplained, after.Unexplained, 0), false})
}

// lines compares the heap profiles, where both sides have one.
func (d *Diff) lines(before, after *moment.Profiled) {
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
		l := Line{c.Place, delta(c.Before.Bytes, c.After.Bytes, c.Error)}
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
	sorting.Stable(d.Same, func(a, b Line) int { return cmp.Compare(b.After, a.After) })
}

func abs(n int64) int64 { return max(n, -n) }

// note says what a reader would else take for granted.
func (d *Diff) note(before, after *moment.Profiled) {
	add := func(format string, args ...any) { d.Notes = append(d.Notes, fmt.Sprintf(format, args...)) }
	b, a := d.Before, d.After
	switch {
	case d.SameProcess:
	case before.Program().Name != after.Program().Name:
		add("two programs, %s and %s: lines are matched by function, file name and line number", before.Name(), after.Name())
	case b.BuildID != a.BuildID:
		add("two builds of %s: a line that moved is matched by its function, if no other line of that function moved", after.Name())
	case before.Path == after.Path:
		add("two processes of %s: %d and %d", after.Name(), b.PID, a.PID)
	}
	if b.OfCgroup != a.OfCgroup {
		add("one side is the memory usage of a cgroup, the other the private memory of processes; only the first includes page cache and kernel memory")
	}
	d.Notes = append(d.Notes, slices.Concat(before.Notes(), after.Notes())...)
	if b.View == "published" && a.View == "published" {
		add("the lines come from the program's own heap profiles, which lag by up to two GCs: %s before, %s after", units.Size(d.Heap.Before),
			units.Size(d.Heap.After))
	}
	if b.View != a.View && b.View != "none" && a.View != "none" {
		add("%s shows what was reachable; %s shows the program's own heap profile, which lags by up to two GCs", viewed(b, a, "live"), viewed(b, a, "published"))
	}
	if b.Rate != a.Rate && b.Rate > 0 && a.Rate > 0 {
		add("sampled 1 per %s before and 1 per %s after", units.Limit(b.Rate), units.Limit(a.Rate))
	}
}

// viewed names the side of that view.
func viewed(before, after moment.Side, view string) string {
	if before.View == view {
		return "before"
	}
	return "after"
}
