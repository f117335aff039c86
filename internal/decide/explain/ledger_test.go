package explain

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// goProcess is a process of HeapMarked 40, HeapLive 70, HeapAlloc 80 and
// HeapInUse 90 MiB, 20 of it free slots and untouched pages.
func goProcess() sample.ProcessMoment {
	return sample.ProcessMoment{Key: subject,
		Go: &sample.Runtime{HeapMarked: 40 * mib, HeapLive: 70 * mib, TotalAlloc: 180 * mib, TotalFree: 100 * mib, HeapInUse: 90 * mib, HeapFree: 6 * mib,
			StackInUse: 2 * mib, GCSys: 3 * mib},
		Residency: &sample.Residency{GoKnown: true, Anon: 100 * mib, GoObjects: 90 * mib, GoIdle: 2 * mib, GoStacks: 1 * mib, GoRuntime: 3 * mib, CMalloc: 2 * mib,
			Mmap: 1 * mib, Image: 1 * mib}}
}

func rowsOf(l sample.Ledger) map[string]sample.Bytes {
	out := map[string]sample.Bytes{}
	for _, r := range l.Rows {
		out[r.Name] += r.Bytes / mib
	}
	return out
}

func anyGo(sample.ProcessKey) bool { return true }

func TestTheHeapDividesByItsCounters(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sample.ProcessMoment)
		want   map[string]sample.Bytes // MiB
	}{
		"without a mark the last collection says what was live": {func(*sample.ProcessMoment) {},
			map[string]sample.Bytes{sample.RowLive: 40, sample.RowNew: 30, sample.RowGarbage: 10, sample.RowIdle: 12}},
		"a mark leaves nothing new": {func(p *sample.ProcessMoment) { p.Live = &sample.Liveness{Bytes: 55 * mib} },
			map[string]sample.Bytes{sample.RowLive: 55, sample.RowGarbage: 25, sample.RowIdle: 12}},
		"small objects have their pages, so that what has none is garbage": {func(p *sample.ProcessMoment) {
			p.Live = &sample.Liveness{Bytes: 20 * mib, Large: sample.Some(5 * mib)}
			p.Residency.Untouched, p.Residency.GoObjects = 40*mib, 50*mib
		}, map[string]sample.Bytes{sample.RowLive: 15, sample.RowGarbage: 25, sample.RowIdle: 12}},
		"untouched pages are no memory": {func(p *sample.ProcessMoment) {
			p.Residency.Untouched, p.Residency.UntouchedNew, p.Residency.GoObjects = 30*mib, 10*mib, 60*mib
		}, map[string]sample.Bytes{sample.RowLive: 20, sample.RowNew: 20, sample.RowGarbage: 10, sample.RowIdle: 12}},
		"more pages than counted are free slots": {func(p *sample.ProcessMoment) { p.Residency.GoObjects = 93 * mib },
			map[string]sample.Bytes{sample.RowLive: 40, sample.RowNew: 30, sample.RowGarbage: 10, sample.RowIdle: 15}},
		"fewer pages than counted shrink the free slots first": {func(p *sample.ProcessMoment) { p.Residency.GoObjects = 70 * mib },
			map[string]sample.Bytes{sample.RowLive: 40, sample.RowNew: 20, sample.RowGarbage: 10, sample.RowIdle: 2}},
	} {
		p := goProcess()
		c.change(&p)
		got := rowsOf(divide(sample.Moment{Processes: []sample.ProcessMoment{p}}, nil, anyGo))
		for _, row := range []string{sample.RowLive, sample.RowNew, sample.RowGarbage, sample.RowIdle} {
			if got[row] != c.want[row] {
				t.Errorf("%s: %s %d MiB, want %d", name, row, got[row], c.want[row])
			}
		}
		if got[sample.RowNative] != 3 || got[sample.RowProgramData] != 1 || got[sample.RowStacks] != 1 || got[sample.RowRuntime] != 3 {
			t.Errorf("%s: rows %v", name, got)
		}
	}
}

func TestObjectsSumToTheirPagesWhateverIsRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() sample.Bytes { return sample.Bytes(r.Int64N(100)) * mib }
	for range 5000 {
		p := sample.ProcessMoment{Go: &sample.Runtime{HeapMarked: some(), HeapLive: some(), TotalAlloc: some(), TotalFree: some(), HeapInUse: some()}}
		if r.IntN(2) == 0 {
			p.Live = &sample.Liveness{Bytes: some()}
		}
		res := sample.Residency{GoObjects: some(), Untouched: some(), UntouchedNew: some()}
		if o := divideObjects(p, res); o.live+o.fresh+o.garbage+o.slack != res.GoObjects {
			t.Fatalf("%+v of %+v with %+v do not sum to the pages", o, res, p.Go)
		}
	}
}

func TestACgroupsRowsAndTheRestSumToItsCharge(t *testing.T) {
	python := sample.ProcessMoment{Key: sample.ProcessKey{PID: 9}, Resident: &sample.Resident{Total: 30 * mib, Shared: 10 * mib}}
	m := sample.Moment{Processes: []sample.ProcessMoment{goProcess(), python}, Cgroup: &sample.Cgroup{Usage: 150 * mib,
		Stat: &sample.CgroupStat{PageCache: 12 * mib, Shmem: 4 * mib, Kernel: 3 * mib, Sock: sample.Some(mib)}}}
	l := divide(m, nil, func(k sample.ProcessKey) bool { return k == subject })
	got := rowsOf(l)
	for row, want := range map[string]sample.Bytes{sample.RowOther: 20, sample.RowPageCache: 12, sample.RowShmem: 4, sample.RowKernel: 3, sample.RowSockets: 1} {
		if got[row] != want {
			t.Errorf("%s %d MiB, want %d", row, got[row], want)
		}
	}
	if l.Total != 150*mib || l.Unexplained != 10*int64(mib) {
		t.Errorf("total %d, unexplained %d MiB, want 150 and 10: file pages come from the cgroup alone", l.Total/mib, l.Unexplained/int64(mib))
	}
	m.Cgroup.Usage = 130 * mib
	if l := divide(m, nil, func(k sample.ProcessKey) bool { return k == subject }); l.Unexplained != -10*int64(mib) {
		t.Errorf("unexplained %d MiB, want -10: it is signed", l.Unexplained/int64(mib))
	}
}

func TestAProcessWhoseRuntimeWasNotReadIsNotDivided(t *testing.T) {
	p := sample.ProcessMoment{Key: subject, Resident: &sample.Resident{Total: 50 * mib, Shared: 8 * mib}}
	m := sample.Moment{Processes: []sample.ProcessMoment{p}}
	if got := rowsOf(divide(m, nil, anyGo)); got[sample.RowUndivided] != 42 || len(got) != 1 {
		t.Errorf("a Go program: %v", got)
	}
	if got := rowsOf(divide(m, nil, func(sample.ProcessKey) bool { return false })); got[sample.RowNative] != 42 || len(got) != 1 {
		t.Errorf("no Go program at all: %v", got)
	}
}

func TestWithoutPagesTheRuntimesFiguresAreCutAtTheProcess(t *testing.T) {
	p := goProcess()
	p.Residency, p.Resident = nil, &sample.Resident{Total: 60 * mib}
	l := divide(sample.Moment{Processes: []sample.ProcessMoment{p}}, nil, anyGo)
	if l.Total != 60*mib || l.Unexplained != 0 {
		t.Errorf("total %d, unexplained %d", l.Total/mib, l.Unexplained/int64(mib))
	}
	p.Resident.Total = 120 * mib
	got := rowsOf(divide(sample.Moment{Processes: []sample.ProcessMoment{p}}, nil, anyGo))
	if got[sample.RowNative] != 19 {
		t.Errorf("native %d MiB, want 120 - 90 - 6 - 2 - 3", got[sample.RowNative])
	}
}

// Only where they miss the charge by more than a fiftieth, and never of a process that stood still.
func TestRowsThatWereReadInMotionSaySo(t *testing.T) {
	for name, c := range map[string]struct {
		kind sample.MomentKind
		more sample.Bytes
		says string
	}{
		"alive": {sample.MomentMax, 3 * mib,
			"the exact rows: they may be off by 3.0 MiB, because the program kept running while they were read (its memory usage moved by 5.0 MiB)"},
		"alive, close": {sample.MomentMax, sample.KiB, ""},
		"at its death": {sample.MomentDeath, 3 * mib, ""},
	} {
		s := newScene()
		s.Moment.Kind = c.kind
		s.Moment.Cgroup.Usage += c.more
		s.Moment.CgroupAfter = &sample.Cgroup{Usage: s.Moment.Cgroup.Usage + 5*mib}
		got := ""
		for _, g := range gapsOf(newCase(s.Evidence)) {
			if strings.HasPrefix(g.What, "the exact rows") {
				got = g.What + ": " + g.Why
			}
		}
		if got != c.says {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
}

func TestWhatOnlySharesTheCgroupHasRowsOfItsOwn(t *testing.T) {
	watcher, neighbour := sample.ProcessKey{PID: 1, Start: 1}, sample.ProcessKey{PID: 90, Start: 2}
	e := &Evidence{Programs: []sample.Program{
		{Key: subject, Name: "shop", Go: &sample.GoProgram{}},
		{Key: watcher, Name: "highwater", WhyNot: sample.WhyWatcher},
		{Key: neighbour, Name: "cache", WhyNot: sample.WhyBeside},
	}}
	m := sample.Moment{Cgroup: &sample.Cgroup{Usage: 100 * mib}}
	for key, n := range map[sample.ProcessKey]sample.Bytes{subject: 10 * mib, watcher: 60 * mib, neighbour: 30 * mib} {
		m.Processes = append(m.Processes, sample.ProcessMoment{Key: key, Resident: &sample.Resident{Total: n}})
	}
	e.Moment = m
	l := e.divide(m)
	if l.Row(sample.RowWatcher) != 60*mib || l.Row(sample.RowOther) != 30*mib || l.Unexplained != 0 {
		t.Errorf("%+v", l)
	}
	if got := subjectOf(e); got != subject {
		t.Errorf("the answer is about process %d", got.PID)
	}
}
