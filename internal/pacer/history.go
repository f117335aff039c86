package pacer

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// History is what a recording says of one process's heap, laid out along the
// clock of allocated bytes.
type History struct {
	Program  sample.Program
	Setting  Setting // in force when it ended
	Recorded recorded

	began  int64 // UTC nanoseconds of the first sample
	ticks  []tick
	marks  []mark
	large  []large
	forced []float64 // clocks at which the program asked for a collection

	rest    float64 // greatest charge that is not the process's own anonymous memory, nor page cache
	limit   float64 // of the cgroup; 0: none
	cpus    int
	killed  bool
	begins  bool  // the process was seen from its start, or soon after
	changed int   // how often GOGC or GOMEMLIMIT were changed
	held    *knot // what a mark at its death found
}

// recorded is what the replay must bring out again.
type recorded struct {
	Peak   float64 // greatest heap in use
	GCs    int
	Forced int
	Anon   float64 // greatest anonymous resident set
}

// tick is a sample: the clock and what belonged to it.
type tick struct {
	at                          float64 // seconds since the first
	alloc                       float64 // the clock: bytes allocated so far
	heap                        float64 // allocated and not yet swept
	live, marked, goal, trigger float64
	ready, free                 float64 // mapped by Go; of it free
	anon, shared                float64 // resident
	cpu, gc                     float64 // seconds
	gcs, forced                 int
	marking                     bool
	gogc                        int32
	memoryLimit                 int64
}

// nonHeap is what a memory limit counts beside objects.
func (t tick) nonHeap() float64 { return max(0, t.ready-t.free-t.heap) }

// mostRows bounds how many samples and collections are read.
const mostRows = 200_000

// ErrNoHistory: the recording has nothing that the model can begin with.
var ErrNoHistory = errors.New("no Go program's collector was seen in it")

// Load reads the Go program with the greatest resident set.
func Load(r *recording.Reader) (*History, error) {
	programs, err := r.Programs()
	if err != nil {
		return nil, err
	}
	var best *History
	for _, p := range programs {
		if p.Go == nil || best != nil && p.Key == best.Program.Key {
			continue
		}
		h := &History{Program: p}
		if err := h.load(r); err != nil {
			return nil, fmt.Errorf("process %d: %w", p.Key.PID, err)
		}
		if len(h.ticks) > 0 && (best == nil || h.Recorded.Anon > best.Recorded.Anon) {
			best = h
		}
	}
	if best == nil {
		return nil, ErrNoHistory
	}
	return best, best.surroundings(r)
}

func (h *History) load(r *recording.Reader) error {
	if err := h.loadTicks(r); err != nil || len(h.ticks) == 0 {
		return err
	}
	cycles, err := r.CyclesAbout(mostRows, h.Program.Key)
	if err != nil {
		return err
	}
	h.marks = marksOf(h.ticks, cycles)
	h.forced = forcedOf(h.ticks)
	h.noteRecorded()
	return h.loadLarge(r)
}

// columns are what is read of process_sample, in the order in which tickAt takes them.
var columns = []string{"resident", "shared", "user_time", "system_time", "gogc", "memory_limit",
	"heap_live", "heap_marked", "heap_goal", "gc_trigger", "total_alloc", "total_free", "heap_free", "mapped_ready",
	"num_gc", "num_forced_gc", "gc_phase", "gc_assist_time", "gc_dedicated_time", "gc_pause_time"}

func (h *History) loadTicks(r *recording.Reader) error {
	s, err := r.ProcessSamplesAbout(mostRows, h.Program.Key, columns...)
	if err != nil {
		return err
	}
	if s.Len() > 0 {
		h.began = s.At[0]
	}
	for i := range s.At {
		at := func(name string) float64 { return s.Column(name)[i] }
		if !(at("total_alloc") > 0) || math.IsNaN(at("heap_live")) {
			continue // not read
		}
		t := tickAt(at)
		t.at = float64(s.At[i]-s.At[0]) / 1e9
		h.ticks = append(h.ticks, t)
	}
	return nil
}

func tickAt(at func(string) float64) tick {
	t := tick{
		alloc: at("total_alloc"), heap: max(0, at("total_alloc")-at("total_free")),
		live: at("heap_live"), marked: at("heap_marked"), goal: at("heap_goal"), trigger: at("gc_trigger"),
		ready: at("mapped_ready"), free: at("heap_free"),
		shared: at("shared"), anon: at("resident") - at("shared"),
		cpu: (at("user_time") + at("system_time")) / 1e9,
		gc:  (at("gc_assist_time") + at("gc_dedicated_time") + at("gc_pause_time")) / 1e9,
		gcs: int(at("num_gc")), forced: int(at("num_forced_gc")),
		marking: at("gc_phase") > 0, gogc: int32(at("gogc")), memoryLimit: sample.NoMemoryLimit,
	}
	if limit := at("memory_limit"); limit < sample.NoMemoryLimit { // a float64 rounds 2^63-1 up
		t.memoryLimit = int64(limit)
	}
	return t
}

// forcedOf finds the collections that the program asked for, each at the clock of
// the first sample after it.
func forcedOf(ticks []tick) (at []float64) {
	for i := 1; i < len(ticks); i++ {
		for n := ticks[i-1].forced; n < ticks[i].forced; n++ {
			at = append(at, ticks[i].alloc)
		}
	}
	return at
}

// fresh is the most CPU time, in seconds, that a program has used whose first
// sample is taken as its start.
const fresh = 1

// noteRecorded finds the peaks. Between two samples the heap grew up to the end of
// the mark that lies there.
func (h *History) noteRecorded() {
	rec, last := &h.Recorded, h.ticks[len(h.ticks)-1]
	for i, t := range h.ticks {
		rec.Peak, rec.Anon = max(rec.Peak, t.heap), max(rec.Anon, t.anon)
		if i > 0 && (t.gogc != h.ticks[i-1].gogc || t.memoryLimit != h.ticks[i-1].memoryLimit) {
			h.changed++
		}
	}
	for _, m := range h.marks {
		rec.Peak = max(rec.Peak, m.peak)
	}
	first := h.ticks[0]
	h.begins = first.cpu < fresh && first.alloc < last.alloc/2
	rec.GCs, rec.Forced = last.gcs, last.forced
	if !h.begins {
		rec.GCs, rec.Forced = last.gcs-first.gcs, last.forced-first.forced
	}
	h.Setting = Setting{GOGC: last.gogc, Limit: last.memoryLimit}
}

// surroundings reads the charge beside the process, the machine, and how it ended.
func (h *History) surroundings(r *recording.Reader) error {
	meta, err := r.Meta()
	if err != nil {
		return err
	}
	h.cpus, h.limit = meta.CPUs, float64(meta.Limit.Or(0))
	events, err := r.Events()
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Kind == sample.EventOOMKill {
			h.killed = true
		}
	}
	if err := h.loadDeath(r); err != nil {
		return err
	}
	return h.loadRest(r)
}

// kernelMemory is what a limit counts beside resident memory where no cgroup was
// watched: page tables, kernel stacks, sockets.
const kernelMemory = 3 * float64(sample.MiB)

// loadRest finds the greatest charge that the process's own anonymous memory and
// page cache do not explain: the kernel's part, and other processes.
func (h *History) loadRest(r *recording.Reader) error {
	s, err := r.SamplesAbout(mostRows, "usage", "page_cache", "usage_limit")
	if err != nil {
		return err
	}
	p, err := r.ProcessSamplesAbout(mostRows, h.Program.Key, "resident", "shared")
	if err != nil {
		return err
	}
	h.rest = kernelMemory
	j := 0
	for i, at := range s.At {
		for j < p.Len() && p.At[j] < at {
			j++
		}
		if j == p.Len() {
			break
		}
		charge := s.Column("usage")[i] - s.Column("page_cache")[i]
		anon := p.Column("resident")[j] - p.Column("shared")[j]
		if p.At[j] == at && charge > anon {
			h.rest = max(h.rest, charge-anon)
		}
		if limit := s.Column("usage_limit")[i]; limit > 0 && limit < math.MaxInt64/2 {
			h.limit = limit
		}
	}
	return nil
}

// loadDeath reads what a mark over the dying process found: the one point of
// liveness that no collection gives. After an exit main's own is out of reach.
func (h *History) loadDeath(r *recording.Reader) error {
	moments, err := r.Moments()
	if err != nil {
		return err
	}
	for _, info := range moments {
		for _, p := range info.Processes {
			if p.Key != h.Program.Key || info.Kind != sample.MomentDeath || p.Signal == 0 {
				continue
			}
			m, err := r.Moment(info.ID)
			if err != nil {
				return err
			}
			h.noteDeath(m)
		}
	}
	return nil
}

func (h *History) noteDeath(m *sample.Moment) {
	for _, p := range m.Processes {
		if p.Key != h.Program.Key || p.Go == nil {
			continue
		}
		last := h.ticks[len(h.ticks)-1]
		if p.Live != nil && float64(p.Go.TotalAlloc) >= last.alloc {
			h.held = &knot{clock: float64(p.Go.TotalAlloc), live: float64(p.Live.Bytes)}
		}
		h.Recorded.Peak = max(h.Recorded.Peak, float64(p.Go.HeapAlloc()))
		if p.Resident != nil {
			h.Recorded.Anon = max(h.Recorded.Anon, float64(p.Resident.Anon()))
		}
	}
}

// start is the first clock.
func (h *History) start() float64 {
	if h.begins {
		return 0
	}
	return h.ticks[0].alloc
}

// end is the last clock.
func (h *History) end() float64 {
	end := h.ticks[len(h.ticks)-1].alloc
	if h.held != nil {
		end = max(end, h.held.clock)
	}
	return end
}

// seconds is when the clock stood at a.
func (h *History) seconds(a float64) float64 {
	i := h.at(a)
	if i+1 >= len(h.ticks) {
		return h.ticks[len(h.ticks)-1].at
	}
	t, u := h.ticks[i], h.ticks[i+1]
	if u.alloc <= t.alloc {
		return t.at
	}
	return t.at + (u.at-t.at)*min(1, max(0, (a-t.alloc)/(u.alloc-t.alloc)))
}

// at is the last tick at or before clock a, 0 if there is none.
func (h *History) at(a float64) int {
	low, high := 0, len(h.ticks)
	for low < high {
		if mid := (low + high) / 2; h.ticks[mid].alloc <= a {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return max(0, low-1)
}

// lasted is how long the recording is.
func (h *History) lasted() time.Duration {
	return time.Duration(h.ticks[len(h.ticks)-1].at * float64(time.Second))
}

// clockOf is the clock at a second.
func (h *History) clockOf(second float64) float64 {
	i := sort.Search(len(h.ticks), func(i int) bool { return h.ticks[i].at > second })
	return h.ticks[max(0, i-1)].alloc
}
