package recording

import (
	"database/sql/driver"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Cycle records a garbage collection.
func (w *Writer) Cycle(c sample.GCCycle) error {
	return w.write("gc cycle", func() error {
		p, err := w.processOf(c.Process)
		if err != nil {
			return err
		}
		_, err = w.add(&tableCycle, w.when(c.At), p.id, int64(c.N), int64(c.Missed), int64(c.Trigger), int64(c.Marked),
			int64(c.Goal), int64(c.Pause), int64(c.GOGC), c.Limit, int64(c.Alloc))
		return err
	})
}

// Event records what happened.
func (w *Writer) Event(e sample.Event) error {
	return w.write("event", func() error {
		process, err := w.processRef(e.Process)
		if err != nil {
			return err
		}
		_, err = w.add(&tableEvent, w.when(e.At), string(e.Kind), process, e.Value, text(e.Text))
		return err
	})
}

// Gap records what was not seen.
func (w *Writer) Gap(g sample.Gap) error {
	return w.write("gap", func() error {
		process, err := w.processRef(g.Process)
		if err != nil {
			return err
		}
		_, err = w.add(&tableGap, w.when(g.From), w.when(g.To), process, g.What, g.Why)
		return err
	})
}

// Heap records a heap profile that belongs to no moment.
func (w *Writer) Heap(key sample.ProcessKey, p *sample.HeapProfile) error {
	return w.write("heap profile", func() error {
		_, err := w.addProfile(key, p)
		return err
	})
}

// Moment records a moment with its profiles and goroutines. The rows of a
// moment's processes follow one another, so do those of a process's goroutines:
// their first number and how many they are stands before them, so that they are
// found without an index and missed where a recording is cut.
func (w *Writer) Moment(m *sample.Moment) error {
	return w.write("moment", func() error {
		row := []driver.Value{w.when(m.At), string(m.Kind), int64(m.Took), int64(m.Stopped),
			w.rows[tableProcessMoment.name] + 1, int64(len(m.Processes))}
		row = putCgroup(row, m.Cgroup)
		row = putCgroup(row, m.CgroupAfter)
		id, err := w.add(&tableMoment, row...)
		if err != nil {
			return err
		}
		for i := range m.Processes {
			if err := w.addProcessMoment(id, &m.Processes[i]); err != nil {
				return err
			}
		}
		return w.addFiles(id, m.At, m.Files)
	})
}

func (w *Writer) addProcessMoment(moment int64, p *sample.ProcessMoment) error {
	state, err := w.processOf(p.Key)
	if err != nil {
		return err
	}
	var profile driver.Value
	if p.Profile != nil {
		if profile, err = w.addProfile(p.Key, p.Profile); err != nil {
			return err
		}
	}
	row := []driver.Value{moment, state.id, int64(p.Signal), optional(p.ExitCode), profile, text(p.Incomplete),
		w.rows[tableGoroutines.name] + 1, int64(len(p.Goroutines))}
	row = put(row, p.Resident, residentColumns)
	row = put(row, p.Residency, residencyColumns)
	row = put(row, p.Go, runtimeColumns)
	row = put(row, p.Live, livenessColumns)
	row = append(row, w.sampled(p.Live))
	if row, err = w.putMetrics(row, p.Metrics); err != nil {
		return err
	}
	malloc, err := w.addMalloc(state.id, p.Malloc)
	if err != nil {
		return err
	}
	id, err := w.add(&tableProcessMoment, append(row, malloc, threadStarts(p.ThreadStarts))...)
	if err != nil {
		return err
	}
	for i := range p.Goroutines {
		if err := w.addGoroutines(id, &p.Goroutines[i]); err != nil {
			return err
		}
	}
	return nil
}

// threadStarts is a list of them, NULL where there is none.
func threadStarts(starts []sample.ThreadStart) driver.Value {
	if len(starts) == 0 {
		return nil
	}
	return list(starts)
}

// sampled is a mark's counts by site, NULL where there are none.
func (w *Writer) sampled(l *sample.Liveness) driver.Value {
	if l == nil || l.Sampled == nil {
		return nil
	}
	return packNumbers(w.zstd, l.Sampled)
}

func (w *Writer) addGoroutines(moment int64, g *sample.GoroutineGroup) error {
	pcs := numbers{}
	for _, pc := range g.Stack {
		pcs.add(pc)
	}
	var stack, created driver.Value
	if g.Where != nil {
		s, err := w.stack(g.Where)
		if err != nil {
			return err
		}
		stack = s
	}
	if g.CreatedAt.Address != 0 || g.CreatedAt.Frames != nil {
		id, err := w.location(g.CreatedAt)
		if err != nil {
			return err
		}
		created = id
	}
	_, err := w.add(&tableGoroutines, moment, g.State, text(g.Reason), pcs.json(), stack, int64(g.Creator), created,
		int64(g.Count), int64(g.StackBytes), int64(g.Oldest), list(g.Frames), list(g.Labels), optional(g.Locked), list(g.IDs))
	return err
}
