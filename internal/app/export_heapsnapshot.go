package app

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/measure/heapgraph"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/heapsnapshot"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// writeHeap writes who holds a heap as a .heapsnapshot file.
func (f ExportFlags) writeHeap(ctx context.Context, s *Streams, args []string) error {
	if f.Output == "" && IsTTY(FileOf(s.Out)) {
		return Usagef("highwater export --heapsnapshot PID -o program.heapsnapshot", "a heap snapshot is large: it is not written to a terminal")
	}
	if f.Most < 0 {
		return Usagef("--max-objects 1000000", "--max-objects %d is not a number of objects", f.Most)
	}
	f.Heap.At = f.At
	recorded, err := "", error(nil)
	if len(args) == 0 {
		recorded, err = FindRecording(nil)
	} else {
		recorded, err = f.Heap.recordingOf(args[0])
	}
	switch {
	case err != nil:
	case recorded != "":
		err = f.Heap.within("export", func() error { return f.writeCaptured(s, recorded) })
	default:
		err = f.Heap.withinMemory("export", func() error { return f.writeLive(ctx, s, args[0]) })
	}
	if err == nil && f.Output != "" {
		visible.Fprintf(s.Err, "Chromium opens it: developer tools, Memory, Load profile\n")
	}
	return err
}

// writeCaptured writes what a recording keeps of a heap.
func (f ExportFlags) writeCaptured(s *Streams, path string) error {
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	defer r.Close()
	defer tellDamage(s, r, path)
	c, err := explain.ChooseHeap(r, f.Heap.At)
	if err != nil {
		return heapMomentError(r, err, path)
	}
	notSeen(s, c.Gaps)
	return f.to(s, heapsnapshot.OfCapture(c).Write)
}

// notSeen says what the file has no word for.
func notSeen(s *Streams, gaps []sample.Gap) {
	for _, g := range gaps {
		visible.Fprintf(s.Err, "not seen: %s: %s\n", g.What, g.Why)
	}
}

// writeLive writes the heap of a process or a core file.
func (f ExportFlags) writeLive(ctx context.Context, s *Streams, arg string) error {
	target, err := f.Heap.open(arg)
	if err != nil {
		return err
	}
	defer target.close()
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // as of heap
	copied, a, err := f.Heap.analyze(ctx, target)
	if err != nil {
		return err
	}
	notSeen(s, copied.gaps)
	folded, err := foldWithin(a, f.Most, copied.limit)
	if err != nil {
		return err
	}
	if err := f.to(s, func(w io.Writer) error { return heapsnapshot.OfHeap(folded).Write(w) }); err != nil {
		return err
	}
	if folded.Objects > 0 {
		visible.Fprintf(s.Err, "folded %s objects that retain less than %s each, %s in all, into what retains them (--max-objects)\n",
			count(folded.Objects), units.Size(folded.Least), units.Size(folded.Bytes))
	}
	return nil
}

// foldWithin folds a heap if that and the file made of it take no more than a limit,
// with what we have already.
func foldWithin(a *heapgraph.Analysis, most int, limit sample.Bytes) (*heapgraph.Folded, error) {
	if err := roomFor(a.FoldSize(most), limit); err != nil {
		return nil, err
	}
	folded := a.Fold(most)
	pointers := 0
	folded.Pointers(func(heapgraph.PartPointer) { pointers++ })
	return folded, roomFor(heapsnapshot.Size(len(folded.Parts), pointers), limit)
}

// roomFor refuses what would take more than a limit beside what we have already, and a
// quarter of that: then the collector runs.
func roomFor(more uint64, limit sample.Bytes) error {
	runtime.GC() // what the step before it needed goes first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if need := sample.Bytes(m.HeapAlloc/4*5 + more); need > limit {
		return &ExitError{Code: ExitFailed, Err: fmt.Errorf("%w: about %d MiB of %d MiB", gomem.ErrTooLarge, need/sample.MiB, limit/sample.MiB),
			Hint: "--max-objects 100000 folds more, --max-memory SIZE allows more"}
	}
	return nil
}
