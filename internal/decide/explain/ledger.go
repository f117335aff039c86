package explain

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// divide makes the ledger of a moment. Total is the cgroup's charge, else the
// resident anonymous memory of the processes. File pages are taken from the
// cgroup alone: they are charged to whoever read them first, so a process's
// resident set says nothing of them. Others are what others hold that only share the
// cgroup, nil: nothing. isGo tells Go programs from others, for processes whose runtime
// was not read.
func divide(m sample.Moment, others map[string]sample.Bytes, isGo func(sample.ProcessKey) bool) sample.Ledger {
	rows := map[string]sample.Bytes{}
	anyGo := false
	for _, p := range m.Processes {
		anyGo = anyGo || p.Go != nil || isGo(p.Key)
	}
	var anon sample.Bytes
	for _, p := range m.Processes {
		anon += anonOf(p)
		divideProcess(rows, p, isGo(p.Key), anyGo)
	}
	for row, bytes := range others {
		rows[row] += bytes
		anon += bytes
	}
	ledger := sample.Ledger{Total: anon}
	if m.Cgroup != nil {
		ledger.Total, ledger.OfCgroup = m.Cgroup.Usage, true
		divideKernel(rows, m.Cgroup.Stat)
	}
	ledger.Rows = sortedRows(rows)
	ledger.Unexplained = int64(ledger.Total)
	for _, r := range ledger.Rows {
		ledger.Unexplained -= int64(r.Bytes)
	}
	return ledger
}

// anonOf is a process's anonymous resident memory: by page where that was read,
// else by the kernel's own count.
func anonOf(p sample.ProcessMoment) sample.Bytes {
	switch {
	case p.Residency != nil:
		return p.Residency.Anon
	case p.Resident != nil:
		return p.Resident.Anon()
	}
	return 0
}

func divideKernel(rows map[string]sample.Bytes, s *sample.CgroupStat) {
	if s == nil {
		return
	}
	rows[sample.RowPageCache] += s.PageCache
	rows[sample.RowShmem] += s.Shmem
	rows[sample.RowKernel] += s.Kernel
	rows[sample.RowSockets] += s.Sock.Or(0)
}

// isClosed says of a program that it may be Go's or not: it could not be looked at.
func isClosed(p *sample.Program) bool {
	return p != nil && p.Go == nil && strings.Contains(p.WhyNot, "permission denied")
}

// divideProcess adds one process's anonymous memory to the rows.
func divideProcess(rows map[string]sample.Bytes, p sample.ProcessMoment, isGo, anyGo bool) {
	switch {
	case p.Go != nil:
		res := residencyOf(p)
		divideObjects(p, res).addTo(rows)
		rows[sample.RowIdle] += res.GoIdle
		rows[sample.RowStacks] += res.GoStacks
		rows[sample.RowRuntime] += res.GoRuntime
		rows[sample.RowNative] += res.CMalloc + res.Mmap
		rows[sample.RowProgramData] += res.Image
	case isGo:
		rows[sample.RowUndivided] += anonOf(p)
	case anyGo:
		rows[sample.RowOther] += anonOf(p)
	default:
		rows[sample.RowNative] += anonOf(p)
	}
}

// readInMotion says how far the rows can be trusted where they miss the charge by more
// than a fiftieth: a program that runs moves while its pages are read.
func (c *Case) readInMotion() (g Gap, ok bool) {
	m := &c.Moment
	off := float64(c.ledger.Unexplained)
	if m.Kind == sample.MomentDeath || m.Cgroup == nil || m.CgroupAfter == nil || math.Abs(off)*50 <= float64(c.ledger.Total) {
		return g, false
	}
	moved := math.Abs(float64(m.CgroupAfter.Usage) - float64(m.Cgroup.Usage))
	why := fmt.Sprintf("they may be off by %s, because the program kept running while they were read", fsize(math.Abs(off)))
	if moved > 0 {
		why += fmt.Sprintf(" (its memory usage moved by %s)", fsize(moved))
	}
	return Gap{"the exact rows", why}, true
}

// residencyOf is where a Go process's pages lay. Where they were not read it is
// inferred from the runtime's figures, as though every page of them were
// resident, and cut at the process's anonymous memory.
func residencyOf(p sample.ProcessMoment) sample.Residency {
	if p.Residency != nil && p.Residency.GoKnown {
		return *p.Residency
	}
	g, left := p.Go, anonOf(p)
	res := sample.Residency{Anon: left, GoKnown: true}
	for _, part := range []struct {
		to   *sample.Bytes
		want sample.Bytes
	}{
		{&res.GoObjects, g.HeapInUse},
		{&res.GoStacks, g.StackInUse},
		{&res.GoRuntime, g.MSpanSys + g.MCacheSys + g.BuckHash + g.GCSys + g.OtherSys},
		{&res.GoIdle, g.HeapFree},
	} {
		*part.to = take(&left, part.want)
	}
	res.Mmap = left
	return res
}

func sortedRows(rows map[string]sample.Bytes) []sample.LedgerRow {
	out := []sample.LedgerRow{}
	for name, b := range rows {
		if b > 0 {
			out = append(out, sample.LedgerRow{Name: name, Bytes: b, Reclaimable: name == sample.RowPageCache})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Bytes != out[j].Bytes {
			return out[i].Bytes > out[j].Bytes
		}
		return out[i].Name < out[j].Name
	})
	return out
}
