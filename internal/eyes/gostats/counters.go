package gostats

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// counterReader reads the runtime's figures about itself.
type counterReader struct {
	vars gather
	at   counterPlaces
	// Where a P keeps how many free g's it has.
	pFree  uint64
	ps     []uint64
	psAddr uint64
	caches cacheReader
	free   fieldReader
}

// counterPlaces are offsets into the gathered bytes. Names are the runtime's:
// runtime/mgcpacer.go, mstats.go, mgc.go, runtime2.go.
type counterPlaces struct {
	gcPercent, memoryLimit                         uint64
	gcPercentHeapGoal, sweepDistMinTrigger         uint64
	triggered, heapLive, heapMarked                uint64
	heapInUse, heapReleased, heapFree              uint64
	totalAlloc, totalFree, mappedReady             uint64
	initialHeapLive                                uint64
	heapStats, deltaSize, inStacks, inWorkBufs     uint64
	inPtrScalarBits                                uint64 // to Go 1.24
	hasPtrScalarBits                               bool
	stacksSys, mspanSys, mcacheSys, buckhashSys    uint64
	gcMiscSys, otherSys                            uint64
	lastGC, pauseTotal, numGC, numForced, fraction uint64
	assist, dedicated, idle, pause, cpuTotal       uint64
	gcphase, allglen, profileRate, allpHeader      uint64
	ngsys, freeStack, freeNoStack                  uint64
	freeIsOne                                      bool   // to Go 1.24: one count of free g's, not two
	headroomPercent                                uint64 // of a memory limit's goal
}

// Counters reads the runtime's account of itself into dst. It allocates
// nothing. Fields may be some microseconds apart; with more than 64 Ps TotalAlloc
// leaves out what they have not reported yet.
func (s *Stats) Counters(dst *sample.Runtime) error {
	if err := s.why[FeatureCounters]; err != nil {
		return err
	}
	c := &s.counters
	if err := c.vars.read(s.r.Memory()); err != nil {
		return err
	}
	defer c.vars.done()
	free, err := c.freeOfPs(s.r.Memory())
	if err != nil {
		return err
	}
	unreported, err := c.caches.unreported(s.r.Memory(), c.ps)
	if err != nil {
		return err
	}
	c.fill(dst)
	dst.TotalAlloc += sample.Bytes(unreported)
	dst.Goroutines = c.count(free)
	return nil
}

// fill converts what was gathered.
func (c *counterReader) fill(dst *sample.Runtime) {
	b, at := c.vars.buf, &c.at
	size := func(at uint64) sample.Bytes { return sample.Bytes(gomem.Word(b, at)) }
	span := func(at uint64) time.Duration { return time.Duration(gomem.Word(b, at)) }

	*dst = sample.Runtime{
		GOGC:        int32(gomem.Half(b, at.gcPercent)),
		MemoryLimit: int64(gomem.Word(b, at.memoryLimit)),

		HeapLive:   size(at.heapLive),
		HeapMarked: size(at.heapMarked),
		Trigger:    size(at.initialHeapLive),
		TotalAlloc: size(at.totalAlloc),
		TotalFree:  size(at.totalFree),

		HeapInUse:    size(at.heapInUse),
		HeapFree:     size(at.heapFree),
		HeapReleased: size(at.heapReleased),
		MappedReady:  size(at.mappedReady),

		StackInUse: c.stat(at.inStacks),
		MSpanSys:   size(at.mspanSys),
		MCacheSys:  size(at.mcacheSys),
		BuckHash:   size(at.buckhashSys),
		GCSys:      size(at.gcMiscSys) + c.stat(at.inWorkBufs),
		OtherSys:   size(at.otherSys),

		NumGC:       gomem.Half(b, at.numGC),
		NumForcedGC: gomem.Half(b, at.numForced),
		GCPhase:     sample.GCPhase(gomem.Half(b, at.gcphase)),
		PauseTotal:  span(at.pauseTotal),

		GCAssist:      span(at.assist),
		GCDedicated:   span(at.dedicated),
		GCIdle:        span(at.idle),
		GCPause:       span(at.pause),
		CPUTotal:      span(at.cpuTotal),
		GCCPUFraction: math.Float64frombits(gomem.Word(b, at.fraction)),

		ProfileRate: int64(gomem.Word(b, at.profileRate)),
	}
	dst.StackSys = dst.StackInUse + size(at.stacksSys)
	if at.hasPtrScalarBits {
		dst.GCSys += c.stat(at.inPtrScalarBits)
	}
	if ns := int64(gomem.Word(b, at.lastGC)); ns != 0 {
		dst.LastGC = time.Unix(0, ns)
	}
	dst.HeapGoal = sample.Bytes(c.pacer().heapGoal())
}

// stat is a field of memstats.heapStats, which is kept in three deltas that
// are summed to be read (runtime/mstats.go, consistentHeapStats).
func (c *counterReader) stat(field uint64) sample.Bytes {
	var sum uint64
	for i := range uint64(3) {
		sum += gomem.Word(c.vars.buf, c.at.heapStats+i*c.at.deltaSize+field)
	}
	if int64(sum) < 0 { // the deltas were read while a value moved
		return 0
	}
	return sample.Bytes(sum)
}

// count is runtime.gcount(false): all g's made, less the free ones and the
// runtime's own. Like the runtime's it can be off by some while it runs.
func (c *counterReader) count(freeOfPs int64) int {
	b, at := c.vars.buf, &c.at
	n := int64(gomem.Word(b, at.allglen)) - freeOfPs - int64(int32(gomem.Half(b, at.ngsys)))
	n -= int64(int32(gomem.Half(b, at.freeStack)))
	if !at.freeIsOne {
		n -= int64(int32(gomem.Half(b, at.freeNoStack)))
	}
	return int(max(n, 1))
}

// freeOfPs sums the free g's that the Ps keep.
func (c *counterReader) freeOfPs(m gomem.Memory) (int64, error) {
	if err := c.listPs(m); err != nil {
		return 0, err
	}
	free, err := c.free.read(m, c.ps, span{c.pFree, 4})
	if err != nil {
		return 0, err
	}
	var sum int64
	for i := range c.ps {
		sum += int64(int32(gomem.Half(free, 4*uint64(i))))
	}
	return sum, nil
}

// listPs reads the addresses of the Ps again where allp has changed. A P never
// moves and is never freed (runtime/proc.go, procresize).
func (c *counterReader) listPs(m gomem.Memory) error {
	header := c.vars.buf[c.at.allpHeader:]
	ptr, n := gomem.Word(header, 0), gomem.Word(header, 8)
	if ptr == c.psAddr && n == uint64(len(c.ps)) {
		return nil
	}
	if n > gomem.MaxPs {
		return fmt.Errorf("runtime.allp has %d entries", n)
	}
	ps, err := m.Words(nil, ptr, n, make([]byte, min(8*n, gomem.WindowSize)))
	if err != nil {
		return err
	}
	c.ps, c.psAddr = ps, ptr
	return nil
}

// verify refuses figures that no runtime can have.
func (c *counterReader) verify(rt *sample.Runtime) error {
	switch {
	case rt.GOGC < -1:
		return fmt.Errorf("GOGC reads as %d", rt.GOGC)
	case rt.MemoryLimit < 0:
		return fmt.Errorf("the memory limit reads as %d", rt.MemoryLimit)
	case rt.NumForcedGC > rt.NumGC:
		return fmt.Errorf("%d collections, of them %d forced", rt.NumGC, rt.NumForcedGC)
	case rt.GCPhase > sample.GCMarkTermination:
		return fmt.Errorf("the collector's phase reads as %d", rt.GCPhase)
	case rt.ProfileRate < 0:
		return fmt.Errorf("MemProfileRate reads as %d", rt.ProfileRate)
	case rt.HeapInUse == 0 || rt.HeapInUse > 1<<47:
		return fmt.Errorf("the heap reads as %d bytes in use", rt.HeapInUse)
	case math.IsNaN(rt.GCCPUFraction) || rt.GCCPUFraction < 0 || rt.GCCPUFraction > 2: // it is an estimate
		return errors.New("the collector's share of CPU time is no share")
	}
	return nil
}
