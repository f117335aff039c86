package pacer

import (
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Sketch is a run of which no samples are there, only its collections and how it stood
// at one moment: what a log tells. Amounts are bytes.
type Sketch struct {
	Program sample.Program
	Cycles  []sample.GCCycle
	Start   time.Time
	At      time.Time // of the moment
	Runtime *sample.Runtime
	Live    *sample.Liveness // what a mark at the moment reached; nil: none was made
	Anon    sample.Bytes     // resident and the process's own
	Fixed   sample.Bytes     // of it Go's, and not heap
	Idle    sample.Bytes     // of it heap that was free
	Rest    sample.Bytes     // what a limit counts beside Anon, and could not be taken back
	Limit   sample.Bytes     // 0: none
	Killed  bool
	Ended   bool
}

// History lays a sketch out as a recording's samples would be. The heap is taken to
// have been written as far as it was at the moment.
func (s Sketch) History() *History {
	h := &History{Program: s.Program, limit: float64(s.Limit), rest: float64(s.Rest), killed: s.Killed, ended: s.Ended, began: s.Start.UnixNano(), cpus: 1}
	g := s.Runtime
	heap := max(float64(g.HeapAlloc()), float64(g.HeapMarked), 1)
	written := min(1, float64(s.Anon.Sub(s.Fixed+s.Idle))/heap)
	now := tick{gogc: g.GOGC, memoryLimit: g.MemoryLimit, cpu: math.NaN(), gc: math.NaN()}
	for _, c := range s.Cycles {
		k := now
		k.at, k.alloc, k.gcs = c.At.Sub(s.Start).Seconds(), float64(c.Alloc), int(c.N)
		k.heap, k.live, k.marked = float64(c.Marked), float64(c.Marked), float64(c.Marked)
		k.goal = State{Marked: k.marked}.Goal(Setting{k.gogc, k.memoryLimit})
		k.ready = k.heap + float64(s.Fixed)
		k.anon = written*k.heap + float64(s.Fixed)
		h.ticks = append(h.ticks, k)
		h.marks = append(h.marks, mark{n: k.gcs, clock: k.alloc, live: k.marked, during: math.NaN()})
	}
	now.at, now.alloc, now.gcs = s.At.Sub(s.Start).Seconds(), float64(g.TotalAlloc), max(int(g.NumGC), len(s.Cycles))
	now.heap, now.live, now.marked, now.goal = heap, float64(g.HeapLive), float64(g.HeapMarked), float64(g.HeapGoal)
	now.free, now.ready, now.anon = float64(s.Idle), heap+float64(s.Fixed+s.Idle), float64(s.Anon)
	h.ticks, h.marks = append(h.ticks, now), inOrder(h.marks)
	if s.Live != nil && (s.Killed || len(h.marks) == 0 || now.alloc > h.marks[len(h.marks)-1].clock) {
		h.held = &knot{now.alloc, float64(s.Live.Bytes)}
	}
	h.noteRecorded()
	h.begins = true
	return h
}
