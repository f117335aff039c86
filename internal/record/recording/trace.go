package recording

import (
	"database/sql/driver"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// TraceCycle is a collection as a line of GODEBUG=gctrace=1 tells it: what a
// recording that was imported from a log has instead of figures that were read.
// Amounts are whole MiB.
type TraceCycle struct {
	Process    sample.ProcessKey
	Start, End time.Time
	N, Missed  uint32  // as in sample.GCCycle
	Share      float64 // of all CPU time since the program's start that collections took, 0 to 1

	SweepTermination, Mark, MarkTermination time.Duration // wall
	Assist, Dedicated, Idle                 time.Duration // CPU, of the mark
	HeapAtStart, HeapAtEnd, Live, Goal      sample.Bytes  // Goal is this collection's
	Stacks, Globals                         sample.Opt[sample.Bytes]
	Procs                                   int
	Forced                                  bool

	NextGoal sample.Opt[sample.Bytes] // of the next collection
	// Allocated is all that was allocated until End, as the lines let one add it up
	// from the first of them; Paused all of SweepTermination and MarkTermination.
	Allocated sample.Bytes
	Paused    time.Duration
}

// traceSchema is the table that only such a recording has: what a line says and
// no other table has a column for.
const traceSchema = `CREATE TABLE IF NOT EXISTS gc_trace (
  id INTEGER PRIMARY KEY,
  at INTEGER, process INTEGER REFERENCES process, n INTEGER, gc_cpu_fraction REAL,
  sweep_termination INTEGER, mark INTEGER, mark_termination INTEGER, assist INTEGER, dedicated INTEGER, idle INTEGER,
  heap_at_start INTEGER, heap_at_end INTEGER, live INTEGER, goal INTEGER,
  stacks_scanned INTEGER, globals_scanned INTEGER, procs INTEGER, forced INTEGER
)`

var tableTrace = table{"gc_trace", words(`at process n gc_cpu_fraction sweep_termination mark mark_termination assist dedicated idle
	heap_at_start heap_at_end live goal stacks_scanned globals_scanned procs forced`)}

// Trace records a collection from a log, as a row of gc_trace, of gc_cycle, and of
// sample and process_sample at its end; columns that a line knows nothing of are
// NULL. Calls follow End.
func (w *Writer) Trace(c TraceCycle) error {
	return w.write("gc trace", func() error {
		if w.rows[tableTrace.name] == 0 {
			if err := w.db.exec(traceSchema); err != nil {
				return err
			}
		}
		p, err := w.processOf(c.Process)
		if err != nil {
			return err
		}
		pause := c.SweepTermination + c.MarkTermination
		for _, add := range []struct {
			table  *table
			values []driver.Value
		}{
			{&tableTrace, []driver.Value{w.when(c.Start), p.id, int64(c.N), c.Share,
				int64(c.SweepTermination), int64(c.Mark), int64(c.MarkTermination), int64(c.Assist), int64(c.Dedicated), int64(c.Idle),
				int64(c.HeapAtStart), int64(c.HeapAtEnd), int64(c.Live), int64(c.Goal),
				optional(c.Stacks), optional(c.Globals), int64(c.Procs), flag(c.Forced)}},
			{&tableCycle, []driver.Value{w.when(c.End), p.id, int64(c.N), int64(c.Missed), int64(c.HeapAtStart), int64(c.Live),
				optional(c.NextGoal), int64(pause), nil, nil, int64(c.Allocated)}},
		} {
			if _, err := w.add(add.table, add.values...); err != nil {
				return err
			}
		}
		return w.traceSample(c, p.id)
	})
}

// traceSample writes the instant after the collection.
func (w *Writer) traceSample(c TraceCycle, process int64) error {
	if err := w.writePoints(); err != nil {
		return err
	}
	at := max(w.at(c.End), w.last+1)
	w.last = at
	row := make([]driver.Value, len(tableSample.columns))
	row[0] = at
	if _, err := w.add(&tableSample, row...); err != nil {
		return err
	}
	known := map[string]driver.Value{
		"at": at, "process": process, "heap_live": int64(c.Live), "heap_marked": int64(c.Live), "heap_goal": optional(c.NextGoal),
		"gc_trigger": int64(c.HeapAtStart), "num_gc": int64(c.N), "last_gc": w.when(c.End), "pause_total": int64(c.Paused),
		"gc_cpu_fraction": c.Share,
	}
	row = make([]driver.Value, len(tableProcessSample.columns))
	for i, name := range tableProcessSample.columns {
		row[i] = known[name]
	}
	_, err := w.add(&tableProcessSample, row...)
	return err
}
