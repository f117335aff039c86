package top

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// State is how a program stands.
type State string

// The states of a row.
const (
	Runs   State = "runs"
	Killed State = "KILLED"
	Exited State = "exited"
)

// id names a row as long as it is shown: a process of a Life, or with no process the
// whole of it.
type id struct {
	life    *Life
	process sample.ProcessKey
}

// Row is one line of the table, as of one instant.
type Row struct {
	id
	Program, Args string
	PID           int    // 0: several
	Go            string // version, "" for what is no Go program
	Part          bool   // one of several processes of the Life above
	State         State
	Sentence      string // of one that ended: why

	// Used is the program's own memory: its cgroup's charge where it is alone in
	// one, else its resident set. Charge and Limit are the cgroup's.
	Used, Charge, Limit sample.Opt[sample.Bytes]
	// Growth is in bytes a second, of what the kernel cannot take back; Left is the
	// time to the limit at that pace, absent where the limit is not being met.
	Growth sample.Opt[float64]
	Left   sample.Opt[time.Duration]
	GC     sample.Opt[float64] // share of the CPU time
	Course []float64           // of the memory, a value a second
}

// full is the part of the limit that is charged; absent without a limit.
func (r *Row) full() sample.Opt[float64] {
	if !r.Limit.OK || !r.Charge.OK || r.Limit.V == 0 {
		return sample.Opt[float64]{}
	}
	return sample.Some(float64(r.Charge.V) / float64(r.Limit.V))
}

// rows are the Life's: one, or of several processes one for all and one for each.
func (l *Life) rows(now time.Time) []Row {
	if len(l.processes) == 0 {
		return l.goneRows()
	}
	whole := l.whole()
	if len(l.processes) == 1 && len(l.gone) == 0 {
		p := l.processes[0]
		whole.describe(p)
		whole.process, whole.GC = p.program.Key, p.gc.share()
		return []Row{whole}
	}
	whole.Program = fmt.Sprintf("%s (%d)", visible.Text(l.Name), len(l.processes))
	rows := []Row{whole}
	for _, p := range l.processes {
		rows = append(rows, l.part(p))
	}
	for _, p := range l.gone {
		rows = append(rows, l.goneRow(p))
	}
	return rows
}

// whole is all of a Life that runs.
func (l *Life) whole() Row {
	r := Row{id: id{life: l}, PID: l.PID, State: Runs, Program: visible.Text(l.Name)}
	var resident sample.Bytes
	for _, p := range l.processes {
		if p.resident.OK {
			resident += p.resident.V
			r.Used = sample.Some(resident)
		}
	}
	use := l.use
	if l.cgroup.Usage > 0 {
		r.Charge, r.Limit = sample.Some(l.cgroup.Usage), l.cgroup.Limit
		if l.beside == 0 {
			r.Used = r.Charge
		}
	} else if len(l.processes) > 0 {
		use = l.processes[0].use
	}
	r.Growth, r.Course = use.growth(), slices.Clone(use.v)
	r.Left = l.untilLimit(r.Growth)
	return r
}

// untilLimit is how long the cgroup's memory can grow like this.
func (l *Life) untilLimit(growth sample.Opt[float64]) sample.Opt[time.Duration] {
	const years = 100 * 365 * 24 * time.Hour
	if !l.cgroup.Limit.OK || !growth.OK || growth.V <= 0 {
		return sample.Opt[time.Duration]{}
	}
	room := float64(l.cgroup.Limit.V.Sub(l.cgroup.Usage.Sub(l.stat.PageCache)))
	return sample.Some(time.Duration(min(room/growth.V, years.Seconds()) * float64(time.Second)))
}

// part is one of several processes.
func (l *Life) part(p *process) Row {
	r := Row{id: id{l, p.program.Key}, Part: true, State: Runs, Used: p.resident,
		Growth: p.use.growth(), GC: p.gc.share(), Course: slices.Clone(p.use.v)}
	r.describe(p)
	return r
}

func (r *Row) describe(p *process) {
	r.Program, r.PID = visible.Text(p.program.Name), p.program.Key.PID
	r.Args = visible.Text(strings.Join(p.program.Args, " "))
	if g := p.program.Go; g != nil {
		r.Go, _, _ = strings.Cut(strings.TrimPrefix(g.Version, "go"), " ")
	}
}

// goneRows are a Life's whose processes have all ended.
func (l *Life) goneRows() []Row {
	var rows []Row
	for i, p := range l.gone {
		r := l.goneRow(p)
		r.Part = i > 0
		rows = append(rows, r)
	}
	return rows
}

func (l *Life) goneRow(p *process) Row {
	r := Row{id: id{l, p.program.Key}, Part: true, State: Exited, Used: p.resident, Course: slices.Clone(p.use.v), Limit: l.cgroup.Limit}
	r.describe(p)
	if p.oom || p.signal {
		r.State = Killed
	}
	r.Sentence = l.sentence(p)
	return r
}

// sentence is why a process ended: explain's, once there is one.
func (l *Life) sentence(p *process) string {
	at := p.ended.Format("15:04:05") + "  "
	a := l.answer
	switch {
	case a != nil && a.Outcome.State == explain.Killed && (p.oom || p.signal):
		return at + visible.Text(a.Verdict.Sentence)
	case p.oom && l.cgroup.Limit.OK:
		return at + "by the kernel: the limit of " + units.Limit(l.cgroup.Limit.V) + "; being explained"
	case p.oom:
		return at + "by the kernel, for memory; being explained"
	case p.signal && l.ended.IsZero():
		return at + "by SIGKILL; being explained"
	case a != nil && a.Verdict.Sentence != "":
		return at + p.exitWords() + ". " + visible.Text(a.Verdict.Sentence)
	}
	return at + p.exitWords()
}

// exitWords are how a process ended, as far as that was seen.
func (p *process) exitWords() string {
	if p.exit == "unseen" {
		return "its code was not seen"
	}
	return p.exit
}

func (l *Life) wasKilled() bool {
	return slices.ContainsFunc(l.gone, func(p *process) bool { return p.oom || p.signal })
}

// matches says whether a filter leaves the row in: a part of its name, of its command
// line or of its recording's name, or the beginning of its pid.
func (r *Row) matches(filter string) bool {
	filter = strings.ToLower(strings.TrimSpace(filter))
	if filter == "" {
		return true
	}
	for _, text := range []string{r.Program, r.Args, filepath.Base(r.life.Path), r.life.Name} {
		if strings.Contains(strings.ToLower(text), filter) {
			return true
		}
	}
	return strings.HasPrefix(strconv.Itoa(r.PID), filter)
}

// order is a column that rows are sorted by.
type order struct {
	column string
	less   func(a, b *Row) int // the first one to see first
}

// orders are in the order of their columns; the first is that of the start.
var orders = []order{
	{"FULL", func(a, b *Row) int { return cmp.Compare(b.full().Or(-1), a.full().Or(-1)) }},
	{"GROWTH", func(a, b *Row) int { return cmp.Compare(b.Growth.Or(math.Inf(-1)), a.Growth.Or(math.Inf(-1))) }},
	{"LIMIT IN", func(a, b *Row) int { return cmp.Compare(a.Left.Or(math.MaxInt64), b.Left.Or(math.MaxInt64)) }},
	{"GC", func(a, b *Row) int { return cmp.Compare(b.GC.Or(-1), a.GC.Or(-1)) }},
	{"PID", func(a, b *Row) int { return cmp.Compare(a.PID, b.PID) }},
	{"PROGRAM", func(a, b *Row) int { return cmp.Compare(a.Program, b.Program) }},
	{"USED", func(a, b *Row) int { return cmp.Compare(b.Used.V, a.Used.V) }},
}

// sorted puts rows in order, the parts of a Life behind it, and those that ended last.
func sorted(rows []Row, by order, reverse bool) []Row {
	var groups [][]Row
	for _, r := range rows {
		if n := len(groups); r.Part && n > 0 && groups[n-1][0].life == r.life {
			groups[n-1] = append(groups[n-1], r)
			continue
		}
		groups = append(groups, []Row{r})
	}
	sorting.Stable(groups, func(a, b []Row) int {
		x, y := &a[0], &b[0]
		if c := cmp.Compare(rank(x), rank(y)); c != 0 {
			return c
		}
		c := cmp.Or(by.less(x, y), cmp.Compare(y.Used.V, x.Used.V), cmp.Compare(x.PID, y.PID))
		if reverse {
			return -c
		}
		return c
	})
	return slices.Concat(groups...)
}

// rank puts what was killed before what exited, and both behind what runs.
func rank(r *Row) int { return slices.Index([]State{Runs, Killed, Exited}, r.State) }
