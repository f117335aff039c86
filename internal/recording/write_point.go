package recording

import (
	"database/sql/driver"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
)

// maxHeld bounds the points that wait for a commit, should nobody call Flush.
const maxHeld = 2048

// held is a copy of a Point, whose groups belong to the caller.
type held struct {
	at        int64
	seen      sample.Point // its groups are those below, or nil
	cgroup    sample.Cgroup
	stat      sample.CgroupStat
	events    sample.CgroupEvents
	pressure  sample.Pressure
	host      sample.Host
	processes []*heldProcess // [:count] are this point's
	count     int
}

type heldProcess struct {
	seen     sample.Process
	resident sample.Resident
	runtime  sample.Runtime
}

// Point keeps a copy of a tick. It is written with the next commit: at a Flush,
// or when the last commit is a second old. Every process of every point has a
// row; a time that is not after the point before it is moved 1 ns behind that.
func (w *Writer) Point(p *sample.Point) error {
	if w.db == nil {
		return ErrClosed
	}
	w.hold(p)
	if w.queued < maxHeld && time.Since(w.lastSync) < commitEvery {
		return nil
	}
	return w.Flush()
}

// hold copies a point into the queue, whose memory is used again and again.
func (w *Writer) hold(p *sample.Point) {
	if w.queued == len(w.points) {
		w.points = append(w.points, new(held))
	}
	h := w.points[w.queued]
	w.queued++
	h.at = max(w.at(p.At), w.last+1)
	w.last = h.at
	h.seen = sample.Point{
		Cgroup:   keep(&h.cgroup, p.Cgroup),
		Pressure: keep(&h.pressure, p.Pressure),
		Host:     keep(&h.host, p.Host),
	}
	if p.Cgroup != nil {
		h.cgroup.Stat = keep(&h.stat, p.Cgroup.Stat)
		h.cgroup.Events = keep(&h.events, p.Cgroup.Events)
	}
	for len(h.processes) < len(p.Processes) {
		h.processes = append(h.processes, new(heldProcess))
	}
	h.count = len(p.Processes)
	for i, from := range p.Processes {
		to := h.processes[i]
		to.seen = sample.Process{
			Key:      from.Key,
			Resident: keep(&to.resident, from.Resident),
			Go:       keep(&to.runtime, from.Go),
		}
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
	w.queued = 0
	return nil
}

func (w *Writer) writePoint(h *held) error {
	row := putCgroup(append(w.row[:0], h.at), h.seen.Cgroup)
	row = put(row, h.seen.Pressure, pressureColumns)
	w.row = put(row, h.seen.Host, hostColumns)
	if _, err := w.add(&tableSample, w.row...); err != nil {
		return err
	}
	for _, p := range h.processes[:h.count] {
		state, err := w.processOf(p.seen.Key)
		if err != nil {
			return err
		}
		row := put(append(w.row[:0], h.at, state.id), p.seen.Resident, residentColumns)
		w.row = put(row, p.seen.Go, runtimeColumns)
		if _, err := w.add(&tableProcessSample, w.row...); err != nil {
			return err
		}
	}
	return nil
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
