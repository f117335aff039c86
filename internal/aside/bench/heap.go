package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	heapStopFloor   = 150 * time.Millisecond
	heapAnswerFloor = 1500 * time.Millisecond
	heapMemoryFloor = 800_000_000
	// The same of four times as many objects.
	largeAnswerFloor = 7 * time.Second
	largeMemoryFloor = 3_000_000_000
)

// whole is how long and how large `highwater heap` was, asked for one program.
type whole struct {
	size           string // in words
	objects, bytes uint64
	stop, answer   []time.Duration
	cpu            time.Duration // of all answers
	peak           sample.Bytes  // the largest of all
	copied         sample.Bytes
}

// heap asks who holds the memory of programs of known size: how long they stood, how
// long the answer took, and what it took of memory.
func heap(r *room) ([]row, error) {
	rate := copyRate()
	all, skipped, err := r.growth()
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, w := range all {
		switch w.size {
		case "1 GB":
			rows = append(rows, heapRows(w, rate, heapAnswerFloor, heapMemoryFloor)...)
		case "4 GB":
			rows = append(rows, heapRows(w, rate, largeAnswerFloor, largeMemoryFloor)[1:]...)
		}
	}
	rows = append(append(rows, growthRows(all)...), skipped...)
	moving, err := heapMoving(r)
	return append(rows, moving), err
}

// heapOf starts a program that keeps so many objects, and asks so many times: w has the
// answers of all rounds, not in order yet.
func (r *room) heapOf(w *whole, objects, times int) error {
	p, err := start(r.target, "-do", "heap", "-objects", strconv.Itoa(objects))
	if err != nil {
		return err
	}
	defer p.stop()
	line, err := p.line("heap")
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(line, &w.objects, &w.bytes); err != nil {
		return err
	}
	for range times {
		if err := touchAll(sample.Bytes(objects) * answerAnObject); err != nil {
			return err
		}
		if err := w.ask(r.tool, p.pid()); err != nil {
			return err
		}
	}
	w.copied, err = copiedOf(p.pid(), r.target)
	return err
}

// ask runs the command once.
func (w *whole) ask(tool string, pid int) error {
	e, err := run(besideLimit, tool, "heap", strconv.Itoa(pid), "--json", "--max-stop", "1m")
	if err != nil {
		return fmt.Errorf("heap: %w", err)
	}
	var ans struct {
		Live uint64  `json:"live_bytes"`
		Stop float64 `json:"stop_ms"`
	}
	if err := json.Unmarshal(e.output, &ans); err != nil {
		return err
	}
	if ans.Live < w.bytes/100*99 || ans.Live > w.bytes/100*101 {
		return fmt.Errorf("heap says %d live bytes, the program %d", ans.Live, w.bytes)
	}
	w.stop = append(w.stop, time.Duration(ans.Stop*float64(time.Millisecond)))
	w.answer = append(w.answer, e.took)
	w.peak = max(w.peak, e.peak)
	w.cpu += e.cpu
	return nil
}

// copiedOf is how much of a program is copied while it stands.
func copiedOf(pid int, exe string) (sample.Bytes, error) {
	runtime, err := attachTo(pid, exe)
	if err != nil {
		return 0, err
	}
	plan, err := goheap.New(runtime).PlanHeapCopy(0)
	if err != nil {
		return 0, err
	}
	return plan.Bytes(), nil
}

func heapRows(w *whole, rate float64, answerFloor time.Duration, memoryFloor sample.Bytes) []row {
	stop, answer := w.stop[len(w.stop)/2], w.answer[len(w.answer)/2]
	of := fmt.Sprintf("%s of %.1f million objects", w.size, float64(w.objects)/1e6)
	return []row{
		{
			What: "How long a program is stopped for `heap`, " + of, Floor: "under 150 ms", Figure: milliseconds(stop), Pass: stop < heapStopFloor,
			More: fmt.Sprintf("median of %d, worst %s; %.0f MB copied, at %.1f GB/s; this machine copies memory at %.1f GB/s", len(w.stop),
				milliseconds(w.stop[len(w.stop)-1]),
				float64(w.copied)/1e6, float64(w.copied)/1e9/stop.Seconds(), rate),
		},
		{
			What: "`heap`, from the command to its answer, " + of, Floor: fmt.Sprintf("under %.1f s", answerFloor.Seconds()),
			Figure: fmt.Sprintf("%.2f s", answer.Seconds()), Pass: answer < answerFloor,
			More: fmt.Sprintf("median of %d, %.2f to %.2f s, %.2f s of CPU; types and dominators of all objects, what each path retains", len(w.answer),
				w.answer[0].Seconds(), w.answer[len(w.answer)-1].Seconds(),
				w.cpu.Seconds()/float64(len(w.answer))),
		},
		{
			What: "`heap`, its own memory, " + of, Floor: fmt.Sprintf("under %.1f GB", float64(memoryFloor)/1e9),
			Figure: fmt.Sprintf("%.2f GB", float64(w.peak)/1e9), Pass: w.peak < memoryFloor,
			More: "largest resident set of all runs (VmHWM)",
		},
	}
}

// copyRate is how fast this machine copies memory that is there, with two threads,
// in GB/s: the best of some.
func copyRate() (best float64) {
	const size = 64 << 20
	var from, to [2][]byte
	for i := range from {
		from[i], to[i] = make([]byte, size), make([]byte, size)
		for k := 0; k < size; k += 4096 {
			from[i][k], to[i][k] = 1, 1
		}
	}
	for range 5 {
		began := time.Now()
		var both sync.WaitGroup
		for i := range from {
			both.Go(func() { copy(to[i], from[i]) })
		}
		both.Wait()
		best = max(best, 2*size/1e9/time.Since(began).Seconds())
	}
	return best
}
