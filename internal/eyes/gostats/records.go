package gostats

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// maxReads is how often the records are read when collections end meanwhile.
const maxReads = 4

// readRecords reads every record, again where a collection published a cycle
// meanwhile, and returns the cycle that they belong to.
//
// mProfCycle is the cycle C times two, plus one once the runtime has begun to
// move future[C%3] to active (runtime/mprof.go, mProf_Flush). A record read in
// the middle of that shows a count twice or not at all. So once that bit is
// set, records count only if an earlier reading saw every future[C%3] empty.
func (p *profileReader) readRecords(m gomem.Memory) (cycle uint32, err error) {
	before, err := m.U32(p.cycle)
	for try := 0; try < maxReads && err == nil; try++ {
		missed := p.reader.Each(m, p.sorted, int(p.record), p.keep)
		if missed > 0 {
			return 0, fmt.Errorf("%d of %d records could not be read", missed, len(p.records))
		}
		var after uint32
		if after, err = m.U32(p.cycle); err != nil {
			return 0, err
		}
		same := after == before
		before = after
		if same && (after&1 == 0 || p.settled == after) {
			break
		}
		if same && p.flushed(after>>1) {
			p.settled = after
		}
	}
	return before >> 1, err
}

// keep decodes the i-th record by address.
func (p *profileReader) keep(i int, b []byte) {
	rec := &p.values[p.order[i]]
	rec.allocs[0], rec.frees[0] = gomem.Word(b, 0), gomem.Word(b, 8)
	for c := range uint64(3) {
		at := p.future + c*p.futureCycle
		rec.allocs[1+c], rec.frees[1+c] = gomem.Word(b, at), gomem.Word(b, at+8)
	}
}

// flushed says whether nothing is left to be published of a cycle.
func (p *profileReader) flushed(cycle uint32) bool {
	c := 1 + cycle%3
	for i := range p.values {
		if p.values[i].allocs[c] != 0 || p.values[i].frees[c] != 0 {
			return false
		}
	}
	return true
}

// views sums records to what the program's own profile says (active and the
// cycle that is being published) and to all that is known now (active and all
// three). Before the first collection is published the program's own profile
// shows all, too (runtime/mprof.go, memProfileInternal).
func (p *profileReader) views(dst []sample.BucketCounts, cycle uint32) []sample.BucketCounts {
	dst = slices.Grow(dst, len(p.values))
	c := 1 + cycle%3
	empty := true
	for i := range p.values {
		v := &p.values[i]
		n := sample.BucketCounts{
			PubAllocs: v.allocs[0] + v.allocs[c],
			PubFrees:  v.frees[0] + v.frees[c],
			NowAllocs: v.allocs[0] + v.allocs[1] + v.allocs[2] + v.allocs[3],
			NowFrees:  v.frees[0] + v.frees[1] + v.frees[2] + v.frees[3],
		}
		empty = empty && n.PubAllocs == 0 && n.PubFrees == 0
		dst = append(dst, n)
	}
	if !empty {
		return dst
	}
	for i := range dst {
		dst[i].PubAllocs, dst[i].PubFrees = dst[i].NowAllocs, dst[i].NowFrees
	}
	return dst
}
