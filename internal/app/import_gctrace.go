package app

import (
	"errors"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/pull"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/units"
)

// traced is one process of a log, with when it began.
type traced struct {
	*pull.TraceProcess
	key   sample.ProcessKey
	began time.Time
}

// traces imports logs of gctrace lines.
func (i *importer) traces(files []source) error {
	processes, torn, untimed := processesOf(files)
	first := processes[0].began
	for _, p := range processes {
		if p.began.Before(first) {
			first = p.began
		}
	}
	if err := i.create("gctrace", processes[0].Label, first); err != nil {
		return err
	}
	err := i.tracePrograms(processes)
	var all []recording.TraceCycle
	for _, p := range processes {
		all = append(all, cyclesOf(p)...)
	}
	sorting.Stable(all, func(a, b recording.TraceCycle) int { return a.End.Compare(b.End) })
	err = errors.Join(err, i.traceCycles(all), i.traceGaps(processes, torn, untimed))
	return i.finish(err)
}

// processesOf are the processes of all logs, the one with the greatest heap
// first. Lines without a date are counted back from the file's last change.
func processesOf(files []source) (all []traced, torn int, untimed bool) {
	for _, f := range files {
		torn += f.trace.Torn
		for _, p := range f.trace.Processes {
			t := traced{TraceProcess: p, key: sample.ProcessKey{Start: uint64(len(all) + 1)}, began: p.Began}
			if t.began.IsZero() {
				untimed, t.began = true, f.changed.Add(-p.Last().End())
			}
			all = append(all, t)
		}
	}
	sorting.Stable(all, func(a, b traced) int { return int(greatestHeap(b)/sample.MiB) - int(greatestHeap(a)/sample.MiB) })
	return all, torn, untimed
}

func greatestHeap(p traced) (most sample.Bytes) {
	for _, c := range p.Collections {
		most = max(most, c.HeapAtEnd)
	}
	return most
}

func (i *importer) tracePrograms(all []traced) error {
	for n, p := range all {
		if len(all) > 1 && n < 8 {
			i.sayf("process %d%s: %s in %s, at most %s of heap", p.key.Start, named(p.Label), collections(len(p.Collections)),
				units.Duration(p.Last().End()), units.Size(greatestHeap(p)))
		}
		program := sample.Program{Key: p.key, Name: p.Label, Go: &sample.GoProgram{}, HeapProfile: sample.HeapProfileUnknown}
		if err := i.w.Program(program); err != nil {
			return err
		}
	}
	if len(all) > 8 {
		i.sayf("and %d more processes", len(all)-8)
	}
	return nil
}

func collections(n int) string {
	if n == 1 {
		return "1 collection"
	}
	return fmt.Sprintf("%d collections", n)
}

func named(label string) string {
	if label == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", label)
}

// cyclesOf puts a process's collections on the clock and adds up what was
// allocated: the heap grows from what one collection found live to where the next
// one ends.
func cyclesOf(p traced) []recording.TraceCycle {
	out := make([]recording.TraceCycle, len(p.Collections))
	var allocated, live sample.Bytes
	var paused time.Duration
	for n, c := range p.Collections {
		allocated += c.HeapAtEnd.Sub(live)
		live = c.Live
		paused += c.SweepTermination + c.MarkTermination
		out[n] = recording.TraceCycle{Process: p.key, Start: p.began.Add(c.Start), End: p.began.Add(c.End()), N: c.N, Share: c.Share,
			SweepTermination: c.SweepTermination, Mark: c.Mark, MarkTermination: c.MarkTermination,
			Assist: c.Assist, Dedicated: c.Dedicated, Idle: c.Idle,
			HeapAtStart: c.HeapAtStart, HeapAtEnd: c.HeapAtEnd, Live: c.Live, Goal: c.Goal,
			Stacks: c.Stacks, Globals: c.Globals, Procs: c.Procs, Forced: c.Forced, Allocated: allocated, Paused: paused}
		if n > 0 {
			out[n].End = later(out[n].End, out[n-1].End) // a log has milliseconds
			out[n].Missed = c.N - p.Collections[n-1].N - 1
			out[n-1].NextGoal = sample.Some(c.Goal)
		}
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// traceCycles writes the collections in the order of their ends, and a moment at
// each new maximum of a heap that is a tenth above the one before, at each process's
// own highest, and at the end.
func (i *importer) traceCycles(all []recording.TraceCycle) error {
	peaks := map[sample.ProcessKey]int{}
	for n, c := range all {
		if peak, ok := peaks[c.Process]; !ok || c.HeapAtEnd > all[peak].HeapAtEnd {
			peaks[c.Process] = n
		}
	}
	var kept, most sample.Bytes
	for n, c := range all {
		if err := i.w.Trace(c); err != nil {
			return err
		}
		kind, wanted := sample.MomentCalm, n == len(all)-1 || n == peaks[c.Process]
		if c.HeapAtEnd > most && (wanted || c.HeapAtEnd > kept+kept/10) {
			kind, wanted, kept = sample.MomentMax, true, c.HeapAtEnd
		}
		most = max(most, c.HeapAtEnd)
		if !wanted {
			continue
		}
		if err := i.traceMoment(c, kind); err != nil {
			return err
		}
	}
	return nil
}

// traceMoment marks an instant to be looked at: a log has no more of it than of
// any other.
func (i *importer) traceMoment(c recording.TraceCycle, kind sample.MomentKind) error {
	return i.w.Moment(&sample.Moment{At: c.End, Kind: kind, Processes: []sample.ProcessMoment{{Key: c.Process}}})
}

func (i *importer) traceGaps(all []traced, torn int, untimed bool) error {
	whole := func(what, why string) error { return i.gap(sample.ProcessKey{}, time.Time{}, time.Time{}, what, why) }
	err := whole("the memory of the process, its goroutines, which lines allocate", "a gctrace line tells of the collector alone, in whole MiB")
	if untimed {
		err = errors.Join(err, whole("the time of day", "the lines have none; it is counted back from when the file was last changed"))
	}
	if torn > 0 {
		err = errors.Join(err, whole(collections(torn), "not read: lines that are mixed with other output"))
	}
	for _, p := range all {
		if first := p.Collections[0].N; first > 1 {
			err = errors.Join(err, i.gap(p.key, p.began, p.began.Add(p.Collections[0].Start), "the first collections",
				fmt.Sprintf("the log begins with number %d", first)))
		}
	}
	return err
}
