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

// columns are what is read of process_sample, in the order in which tickAt takes them.
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
	for i := range s.At {
		at := func(column recording.Column) float64 { return s.Column(column)[i] }
		if !(at(recording.ColTotalAlloc) > 0) || math.IsNaN(at(recording.ColHeapLive)) {
			continue // not read
		}
		t := tickAt(at)
		t.at = float64(s.At[i]-s.At[0]) / 1e9
		h.ticks = append(h.ticks, t)
	}
	return nil
}

func tickAt(at func(recording.Column) float64) tick {
	t := tick{
		alloc: at(recording.ColTotalAlloc), heap: max(0, at(recording.ColTotalAlloc)-at(recording.ColTotalFree)),
		live: at(recording.ColHeapLive), marked: at(recording.ColHeapMarked), goal: at(recording.ColHeapGoal), trigger: at(recording.ColGCTrigger),
		ready: at(recording.ColMappedReady), free: at(recording.ColHeapFree),
		shared: at(recording.ColShared), anon: at(recording.ColAnonymous),
		cpu: (at(recording.ColUserTime) + at(recording.ColSystemTime)) / 1e9,
		gc:  (at(recording.ColGCAssistTime) + at(recording.ColGCDedicatedTime) + at(recording.ColGCPauseTime)) / 1e9,
		gcs: int(at(recording.ColNumGC)), forced: int(at(recording.ColNumForcedGC)),
		marking: at(recording.ColGCPhase) > 0, gogc: int32(at(recording.ColGOGC)), memoryLimit: sample.NoMemoryLimit,
	}
	if limit := at(recording.ColMemoryLimit); limit < sample.NoMemoryLimit { // a float64 rounds 2^63-1 up
		t.memoryLimit = int64(limit)
	}
	return t
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
	p, err := r.ProcessSamplesAbout(mostRows, h.Program.Key, recording.ColAnonymous)
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
		charge := s.Column(recording.ColCommitted)[i]
		anon := p.Column(recording.ColAnonymous)[j]
		if p.At[j] == at && charge > anon {
			h.rest = max(h.rest, charge-anon)
		}
		if limit := s.Column(recording.ColUsageLimit)[i]; limit > 0 && limit < math.MaxInt64/2 {
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
