package recording

import (
	"database/sql/driver"
	"slices"
	"sync"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// maxHeld bounds the points that wait for a commit, should nobody call Flush.
const maxHeld = 2048

// held is a copy of a Point, whose groups belong to the caller.
type held struct {
	at        int64
	unchanged int64     // points without a row before it
	seen      heldPoint // its groups are those below, or nil
	cgroup    sample.Cgroup
	stat      sample.CgroupStat
	events    sample.CgroupEvents
	pressure  sample.Pressure
	host      sample.Host
	processes []*heldProcess // those of seen.Processes are this point's
}

type heldProcess struct {
	resident sample.Resident
	runtime  sample.Runtime
}

// heldFree are points that wait for nothing, of all Writers: of a hundred recordings each would
// keep as many as ever waited at once.
var heldFree = sync.Pool{New: func() any { return new(held) }}

// Point keeps a copy of a tick. It is written with the next commit: at a Flush,
// or when the last commit is a second old. Every process of every point has a
// row; a time that is not after the point before it is moved 1 ns behind that. A
// point of a rest that says nothing new has no row but at a Flush, or as the last
// one before there is news.
func (w *Writer) Point(p *sample.Point) error {
	if w.db == nil {
		return ErrClosed
	}
	if w.rests(p) {
		if err := w.calm(); err != nil {
			return w.end(err)
		}
		return nil
	}
	w.enqueue(p)
	if !w.pointsWait() {
		return w.Flush()
	}
	if p.Resting {
		if err := w.calm(); err != nil {
			return w.end(err)
		}
	}
	return nil
}

// hold copies a point behind the queue, whose memory is used again and again.
func (w *Writer) hold(p *sample.Point) *held {
	if w.queued == len(w.points) {
		w.points = append(w.points, heldFree.Get().(*held))
	}
	h := w.points[w.queued]
	h.at, h.unchanged = max(w.at(p.At), w.last+1), 0
	w.last = h.at
	h.copyOf(p)
	return h
}

// copyOf makes it a copy of a point.
func (h *held) copyOf(p *sample.Point) {
	h.seen.Point = sample.Point{
		Processes: h.seen.Processes[:0],
		Cgroup:    keep(&h.cgroup, p.Cgroup),
		Pressure:  keep(&h.pressure, p.Pressure),
		Host:      keep(&h.host, p.Host),
	}
	if p.Cgroup != nil {
		h.cgroup.Stat = keep(&h.stat, p.Cgroup.Stat)
		h.cgroup.Events = keep(&h.events, p.Cgroup.Events)
	}
	for len(h.processes) < len(p.Processes) {
		h.processes = append(h.processes, new(heldProcess))
	}
	for i, from := range p.Processes {
		to := h.processes[i]
		h.seen.Processes = append(h.seen.Processes, sample.Process{
			Key:      from.Key,
			Resident: keep(&to.resident, from.Resident),
			Go:       keep(&to.runtime, from.Go),
		})
	}
}

// keep copies a group that was seen and returns where it is.
func keep[T any](to, from *T) *T {
	if from == nil {
		return nil
	}
	*to = *from
	return to
}

// writePoints adds the queue to the open transaction.
func (w *Writer) writePoints() error {
	w.endRest()
	return w.writeQueue()
}

// writeQueue adds those that have a row for sure.
func (w *Writer) writeQueue() error {
	if w.queued == 0 {
		return nil
	}
	if err := w.begin(); err != nil {
		return err
	}
	for _, h := range w.points[:w.queued] {
		if err := w.writePoint(h); err != nil {
			return err
		}
	}
	w.giveBack(w.queued)
	w.queued, w.moved = 0, false
	return nil
}

// giveBack lets go of the first n points; the one behind them may be one that waits.
func (w *Writer) giveBack(n int) {
	for i, h := range w.points[:n] {
		heldFree.Put(h)
		w.points[i] = nil
	}
	if n > cap(w.points)/2 && n > 16 {
		w.points = slices.Clone(w.points[n:])
		return
	}
	w.points = slices.Delete(w.points, 0, n)
}

func (w *Writer) writePoint(h *held) error {
	row := putCgroup(append(w.row[:0], h.at), h.seen.Cgroup)
	row = put(row, h.seen.Pressure, pressureColumns)
	w.row = append(put(row, h.seen.Host, hostColumns), h.looks())
	if _, err := w.add(&tableSample, w.row...); err != nil {
		return err
	}
	for _, p := range h.seen.Processes {
		state, err := w.processOf(p.Key)
		if err != nil {
			return err
		}
		row := put(append(w.row[:0], h.at, state.id), p.Resident, residentColumns)
		w.row = append(put(row, p.Go, runtimeColumns), h.looks())
		if _, err := w.add(&tableProcessSample, w.row...); err != nil {
			return err
		}
	}
	return nil
}

// looks is the column unchanged: NULL where every point before it has a row.
func (h *held) looks() driver.Value {
	if h.unchanged == 0 {
		return nil
	}
	return h.unchanged
}

// putCgroup appends a charge with its parts; each group may be absent.
func putCgroup(row []driver.Value, g *sample.Cgroup) []driver.Value {
	row = put(row, g, cgroupColumns)
	if g == nil {
		g = &sample.Cgroup{}
	}
	row = put(row, g.Stat, statColumns)
	return put(row, g.Events, eventsColumns)
}
