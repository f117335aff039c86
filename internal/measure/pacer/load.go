package pacer

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// mostRows bounds how many samples and collections are read.
const mostRows = 200_000

// ErrNoHistory means that the recording has nothing that the model can begin with.
var ErrNoHistory = errors.New("no Go program's collector was seen in it")

// Load reads the Go program with the greatest resident set.
func Load(r *recording.Reader) (*History, error) { return LoadOf(r, sample.ProcessKey{}) }

// LoadOf reads that process; the zero key is the Go program with the greatest resident
// set.
func LoadOf(r *recording.Reader, key sample.ProcessKey) (*History, error) {
	programs, err := r.Programs()
	if err != nil {
		return nil, err
	}
	var best *History
	for _, p := range programs {
		if p.Go == nil || best != nil && p.Key == best.Program.Key || key != (sample.ProcessKey{}) && p.Key != key {
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
	return nil
}

// columns are what is read of process_sample.
var columns = []recording.Column{recording.ColAnonymous, recording.ColShared, recording.ColUserTime, recording.ColSystemTime, recording.ColGOGC,
	recording.ColMemoryLimit,
	recording.ColHeapLive, recording.ColHeapMarked, recording.ColHeapGoal, recording.ColGCTrigger, recording.ColTotalAlloc, recording.ColTotalFree,
	recording.ColHeapFree, recording.ColMappedReady,
	recording.ColNumGC, recording.ColNumForcedGC, recording.ColGCPhase, recording.ColGCAssistTime, recording.ColGCDedicatedTime, recording.ColGCPauseTime}

func (h *History) loadTicks(r *recording.Reader) error {
	s, err := r.ProcessSamplesAbout(mostRows, h.Program.Key, columns...)
	if err != nil {
		return err
	}
	if s.Len() > 0 {
		h.began = s.At[0]
	}
	h.seen = s
	tickOf := ticksOf(s)
	alloc, live := s.Column(recording.ColTotalAlloc), s.Column(recording.ColHeapLive)
	h.ticks = make([]tick, 0, s.Len())
	for i := range s.At {
		if !(alloc[i] > 0) || math.IsNaN(live[i]) {
			continue // not read
		}
		t := tickOf(i)
		t.at = float64(s.At[i]-s.At[0]) / 1e9
		h.ticks = append(h.ticks, t)
	}
	return nil
}

// ticksOf gives the ticks of samples, without their time.
func ticksOf(s *recording.Series) func(i int) tick {
	alloc, free := s.Column(recording.ColTotalAlloc), s.Column(recording.ColTotalFree)
	live, marked := s.Column(recording.ColHeapLive), s.Column(recording.ColHeapMarked)
	goal, trigger := s.Column(recording.ColHeapGoal), s.Column(recording.ColGCTrigger)
	ready, heapFree := s.Column(recording.ColMappedReady), s.Column(recording.ColHeapFree)
	anon, shared := s.Column(recording.ColAnonymous), s.Column(recording.ColShared)
	user, system := s.Column(recording.ColUserTime), s.Column(recording.ColSystemTime)
	assist, dedicated, pause := s.Column(recording.ColGCAssistTime), s.Column(recording.ColGCDedicatedTime), s.Column(recording.ColGCPauseTime)
	gcs, forced, phase := s.Column(recording.ColNumGC), s.Column(recording.ColNumForcedGC), s.Column(recording.ColGCPhase)
	percent, limit := s.Column(recording.ColGOGC), s.Column(recording.ColMemoryLimit)
	return func(i int) tick {
		t := tick{
			alloc: alloc[i], heap: max(0, alloc[i]-free[i]),
			live: live[i], marked: marked[i], goal: goal[i], trigger: trigger[i],
			ready: ready[i], free: heapFree[i],
			shared: shared[i], anon: anon[i],
			cpu: (user[i] + system[i]) / 1e9,
			gc:  (assist[i] + dedicated[i] + pause[i]) / 1e9,
			gcs: int(gcs[i]), forced: int(forced[i]),
			marking: phase[i] > 0, gogc: int32(percent[i]), memoryLimit: sample.NoMemoryLimit,
		}
		if limit[i] < sample.NoMemoryLimit { // a float64 rounds 2^63-1 up
			t.memoryLimit = int64(limit[i])
		}
		return t
	}
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
		switch {
		case e.Kind == sample.EventOOMKill:
			h.killed = true
		case e.Kind == sample.EventLoadEnd, e.Kind == sample.EventExit && e.Process == h.Program.Key && strings.HasPrefix(e.Text, "exit "):
			h.ended = true
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
	s, err := r.SamplesAbout(mostRows, recording.ColCommitted, recording.ColUsageLimit)
	if err != nil {
		return err
	}
	h.rest = kernelMemory
	p, j := h.seen, 0
	h.seen = nil
	charges, limits, anons := s.Column(recording.ColCommitted), s.Column(recording.ColUsageLimit), p.Column(recording.ColAnonymous)
	for i, at := range s.At {
		for j < p.Len() && p.At[j] < at {
			j++
		}
		if j == p.Len() {
			break
		}
		charge, anon := charges[i], anons[j]
		if p.At[j] == at && charge > anon {
			h.rest = max(h.rest, charge-anon)
		}
		if limit := limits[i]; limit > 0 && limit < math.MaxInt64/2 {
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
