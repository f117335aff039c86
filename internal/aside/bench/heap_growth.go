package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// heapSize is a program that heap is asked about, and how often in each round.
type heapSize struct {
	name           string
	objects, times int
}

var heapSizes = []heapSize{
	{"1 MB", 12_000, 4},
	{"0.1 GB", 1_200_000, 4},
	{"0.3 GB", 3_600_000, 2},
	{"1 GB", 12_000_000, 10},
	{"2 GB", 24_000_000, 2},
	{"4 GB", 48_000_000, 4},
	{"8 GB", 96_000_000, 1},
}

// heapRounds is how often all sizes are gone through: a machine that is others', too, is
// faster and slower for minutes, and no size should have a good one for itself.
const heapRounds = 3

const (
	// What the program takes for an object, 64 bytes (the blocks' pages are never
	// touched), and we for it, 55 to 62, and some.
	roomAnObject sample.Bytes = 140
	// What we take for it, and some.
	answerAnObject sample.Bytes = 70
	// How much more an object of one heap may take than one of another: time and memory grow
	// with objects.
	linearFloor = 2
)

// growth asks about programs of growing size. One for which there is no room, or that
// fails, is a row that says so.
func (r *room) growth() (all []*whole, skipped []row, err error) {
	for _, s := range heapSizes {
		all = append(all, &whole{size: s.name})
	}
	missing := make(map[string]row)
	for range r.least(heapRounds) {
		for i, s := range heapSizes {
			if _, ok := missing[s.name]; ok {
				continue
			}
			why, err := r.noRoom(s)
			if err != nil {
				return nil, nil, err
			}
			if why != "" {
				missing[s.name] = row{What: millionOf + s.name, Figure: "not measured", Pass: true, More: why}
			} else if err := r.heapOf(all[i], s.objects, r.least(s.times)); err != nil {
				missing[s.name] = row{What: millionOf + s.name, Floor: "an answer", Figure: "failed", More: err.Error()}
			}
		}
	}
	for _, w := range all {
		if why, ok := missing[w.size]; ok {
			skipped = append(skipped, why)
		}
		slices.Sort(w.stop)
		slices.Sort(w.answer)
	}
	return slices.DeleteFunc(all, func(w *whole) bool { _, ok := missing[w.size]; return ok }), skipped, nil
}

const millionOf = "`heap`, what a million objects more take, of "

// noRoom says why a size is not measured, "" if it is.
func (r *room) noRoom(s heapSize) (string, error) {
	if r.quick && s.objects > 12_000_000 {
		return "takes too long for a quick run", nil
	}
	free, err := figureIn("/proc/meminfo", "MemAvailable")
	if err != nil {
		return "", err
	}
	if need := sample.Bytes(s.objects) * roomAnObject; free < need {
		return fmt.Sprintf("wants %.1f GB of memory, and %.1f GB are free", float64(need)/1e9, float64(free)/1e9), nil
	}
	return "", nil
}

// growthRows gives a row for each size, of what it takes more than the smallest, and one
// that compares them. There are none without the smallest: a row of its own says why.
func growthRows(all []*whole) (rows []row) {
	if len(all) == 0 || all[0].size != heapSizes[0].name {
		return nil
	}
	var seconds, memory span
	least := all[0]
	rows = append(rows, row{
		What: "`heap`, what an answer takes of " + least.size, Figure: fmt.Sprintf("%.3f s, %.0f MB", least.median().Seconds(), float64(least.peak)/1e6), Pass: true,
		More: fmt.Sprintf("%d objects, median of %d: what does not grow with them", least.objects, len(least.answer)),
	})
	for _, w := range all[1:] {
		millions := float64(w.objects-least.objects) / 1e6
		s, mb := (w.median()-least.median()).Seconds()/millions, float64(w.peak-least.peak)/1e6/millions
		seconds.add(s)
		memory.add(mb)
		rows = append(rows, row{
			What: millionOf + w.size, Figure: fmt.Sprintf("%.3f s, %.0f MB", s, mb), Pass: true,
			More: fmt.Sprintf("%.2f GB of %.1f million objects: %.2f s, median of %d, and %.2f GB; stopped for %s", float64(w.bytes)/1e9, float64(w.objects)/1e6,
				w.median().Seconds(), len(w.answer), float64(w.peak)/1e9, milliseconds(w.stop[len(w.stop)/2])),
		})
	}
	if len(all) < 3 {
		return rows
	}
	return append(rows, row{
		What:  fmt.Sprintf("`heap`, how far from linear in objects from %s to %s: the dearest million against the cheapest", all[1].size, all[len(all)-1].size),
		Floor: fmt.Sprintf("under %d x", linearFloor), Figure: fmt.Sprintf("%.2f x in time, %.2f x in memory", seconds.ratio(), memory.ratio()),
		Pass: seconds.ratio() < linearFloor && memory.ratio() < linearFloor,
		More: fmt.Sprintf("%.3f to %.3f s and %.0f to %.0f MB", seconds.least, seconds.most, memory.least, memory.most),
	})
}

// median is that of the answers' times.
func (w *whole) median() time.Duration { return w.answer[len(w.answer)/2] }

// span is the smallest and the largest of some values.
type span struct{ least, most float64 }

func (s *span) add(v float64) {
	if s.most == 0 {
		s.least = v
	}
	s.least, s.most = min(s.least, v), max(s.most, v)
}

func (s *span) ratio() float64 { return s.most / s.least }
