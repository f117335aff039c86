package gostats

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// maxBuckets bounds what is followed of a heap profile, more are counted: of 3,000,000
	// that a program made up, watching took 1.1 GB where a million were followed, and
	// 0.3 GB so. The largest servers have some 10,000.
	maxBuckets = 1 << 18
	// maxWalk bounds the list of buckets: 64 million are over 10 GiB.
	maxWalk = 1 << 26
	// maxFrames is the deepest stack a bucket can have: GODEBUG=profstackdepth
	// is cut at 1024 (runtime/runtime1.go, parsedebugvars).
	maxFrames = 1024
	// maxFramesTotal bounds the stacks of all buckets together, 16 MiB: each frame is put
	// into words, by us and by whoever reads the recording.
	maxFramesTotal = 2 << 20
	// memProfile is the type of a heap profile's bucket (runtime/mprof.go).
	memProfile = 1
)

// profileReader follows the heap profile's buckets: a list to whose front new
// ones are added and from which none is taken. A bucket's header and stack
// never change, so only its record is read again (runtime/mprof.go).
type profileReader struct {
	head  uint64 // address of runtime.mbuckets
	cycle uint64 // address of runtime.mProfCycle
	rate  uint64 // address of runtime.MemProfileRate

	header              uint64 // size of a bucket's header; the stack follows, then the record
	next, typ           uint64
	size, frames        uint64
	record, futureCycle uint64 // sizes of memRecord and memRecordCycle
	future              uint64 // offset of memRecord.future

	limit      int             // maxBuckets
	left       int             // buckets beyond it
	newest     uint64          // head of the list at the last walk
	buckets    []sample.Bucket // in the order they were announced
	depths     []uint16        // frames of each
	records    []uint64        // addresses of their records
	frameTotal int             // frames of all stacks
	dropped    int             // buckets whose stacks are dropped

	sorted  []uint64 // record addresses, ascending
	order   []int32  // sorted[i] is bucket order[i]'s
	values  []record // by bucket
	reader  gomem.RecordReader
	settled uint32 // value of mProfCycle whose flush was seen to be complete
}

// record is the counts of one bucket: active, and the three cycles to come.
type record struct {
	allocs, frees [4]uint64 // [0] active, [1+i] future[i]
}

// attach finds the profile and looks at its first bucket.
func (p *profileReader) attach(s *Stats, find *gomem.Resolver) error {
	p.head, p.cycle, p.rate = find.Addr("mbuckets"), find.Addr("mProfCycle"), find.Addr("MemProfileRate")
	p.header = find.Size("bucket")
	p.next, p.typ = find.Offset("bucket", "allnext"), find.Offset("bucket", "typ")
	p.size, p.frames = find.Offset("bucket", "size"), find.Offset("bucket", "nstk")
	p.record, p.futureCycle = find.Size("memRecord"), find.Size("memRecordCycle")
	p.future = find.Offset("memRecord", "future")
	allocs, frees := find.Offset("memRecordCycle", "allocs"), find.Offset("memRecordCycle", "frees")
	if err := find.Err(); err != nil {
		return err
	}
	if allocs != 0 || frees != 8 || p.futureCycle < 16 || p.record != p.future+3*p.futureCycle || p.header > 256 {
		return fmt.Errorf("%s: the profile's records are not laid out as known", s.r.Binary().GoVersion)
	}
	p.limit = maxBuckets
	return p.verify(s.r.Memory())
}

// verify refuses a list that does not begin with a heap bucket.
func (p *profileReader) verify(m gomem.Memory) error {
	first, err := m.U64(p.head)
	if err != nil || first == 0 {
		return err
	}
	defer p.reader.Give(p.reader.Take())
	_, _, _, err = p.readHeader(gomem.NewCursor(m), first)
	return err
}

// Profile reads the heap profile as it is now. Counts are of sampled objects;
// bytes are count times the bucket's size (a record's own bytes are gone in Go
// 1.27). The first call reads all, a later one new buckets and every record. Of
// more than maxBuckets those that are met first are read, the others
// counted. dst.Counts is reused.
func (s *Stats) Profile(dst *sample.HeapProfile) error {
	if err := s.why[FeatureProfile]; err != nil {
		return err
	}
	p := &s.profile
	rate, err := s.r.Memory().U64(p.rate)
	if err != nil {
		return err
	}
	known := len(p.buckets)
	if err := p.follow(s.r); err != nil {
		return fmt.Errorf("heap profile: %w", err)
	}
	if len(p.buckets) > known { // their stacks may lead into a new plugin
		if _, err := s.r.LearnModules(); err != nil {
			return fmt.Errorf("heap profile: %w", err)
		}
	}
	cycle, err := p.readRecords(s.r.Memory())
	if err != nil {
		return fmt.Errorf("heap profile: %w", err)
	}
	dst.At, dst.Rate, dst.Cycle, dst.Left = time.Now(), int64(rate), cycle, p.left
	dst.Counts = p.views(dst.Counts[:0], cycle)
	return nil
}

// SampledTotal is how many bytes were allocated by what a profile, the last one that
// was read, has samples of: count times size, over the chance 1-exp(-size/rate) that
// an object is sampled.
func (s *Stats) SampledTotal(h *sample.HeapProfile) (total float64) {
	size, scale := sample.Bytes(0), 0.0
	for i := range h.Counts[:min(len(h.Counts), len(s.profile.buckets))] {
		if n := s.profile.buckets[i].Size; n != size { // many are alike
			size, scale = n, float64(n)
			if h.Rate > 1 {
				scale /= -math.Expm1(-float64(n) / float64(h.Rate))
			}
		}
		total += float64(h.Counts[i].NowAllocs) * scale
	}
	return total
}

// Buckets returns the buckets that Profile has announced, from index from on.
// Stacks are return addresses of the process, innermost first. The slice and
// its stacks stay valid and are not to be changed. What was announced before
// from is taken as known: its stacks, most of what a profile takes of our
// memory, are dropped here.
func (s *Stats) Buckets(from int) []sample.Bucket {
	p := &s.profile
	from = min(max(from, 0), len(p.buckets))
	for ; p.dropped < from; p.dropped++ {
		p.buckets[p.dropped].Stack = nil
	}
	return slices.Clone(p.buckets[from:])
}

// Bucket is the bucket of the heap profile at an address. Profile must have been
// called.
func (s *Stats) Bucket(addr uint64) (b sample.Bucket, ok bool) {
	i, ok := s.profile.index(addr)
	if !ok {
		return b, false
	}
	return s.profile.buckets[i], true
}

// Follow reads the buckets that the profile has by now, and says how many there are: what
// LiveObjects asks for.
func (s *Stats) Follow() (n int, err error) {
	if err := s.why[FeatureProfile]; err != nil {
		return 0, err
	}
	err = s.profile.follow(s.r)
	return len(s.profile.buckets), err
}

// IndexOf is the number of the bucket at an address, as Buckets counts them.
func (s *Stats) IndexOf(addr uint64) (i int, ok bool) { return s.profile.index(addr) }
