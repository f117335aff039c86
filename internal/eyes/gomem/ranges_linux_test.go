package gomem_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// residentPages are the addresses of the pages of m that are in memory
// (/proc/PID/pagemap, bit 63).
func (p *target) residentPages(m mapping) []uint64 {
	p.t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", p.pid))
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	var pages []uint64
	buf := make([]byte, 64<<10)
	for at := m.start; at < m.end; {
		n := min(uint64(len(buf)), 8*(m.end-at)/kernelPage)
		if _, err := f.ReadAt(buf[:n], int64(at/kernelPage*8)); err != nil {
			p.t.Fatal(err)
		}
		for i := uint64(0); i < n; i, at = i+8, at+kernelPage {
			if binary.LittleEndian.Uint64(buf[i:])>>63 != 0 {
				pages = append(pages, at)
			}
		}
	}
	return pages
}

// anonymous are the mappings that are neither of a file, nor the bss behind
// one, nor the kernel's.
func (p *target) anonymousMappings() []mapping {
	var out []mapping
	var image uint64 // end of the executable
	for _, m := range p.mappings() {
		switch {
		case strings.HasPrefix(m.path, "/"), m.path == "" && m.start == image:
			image = m.end
		case m.path == "" || strings.HasPrefix(m.path, "[anon:"):
			out = append(out, m)
		}
	}
	return out
}

// resident sums what is in memory by kind; pages in an arena and in no span are
// under RangeArena, those in no range are the unexplained.
func (p *target) resident(ranges []sample.PageRange) (kinds map[sample.RangeKind]int, unexplained []uint64) {
	kinds = make(map[sample.RangeKind]int)
	var by [5][]sample.PageRange
	for _, r := range ranges {
		by[r.Kind] = append(by[r.Kind], r)
	}
	within := func(kind sample.RangeKind, page uint64) bool {
		i, ok := slices.BinarySearchFunc(by[kind], page, func(r sample.PageRange, page uint64) int {
			switch {
			case r.End <= page:
				return -1
			case r.Start > page:
				return 1
			}
			return 0
		})
		return ok && i >= 0
	}
	order := []sample.RangeKind{
		sample.RangeObjectsNew, sample.RangeObjects, sample.RangeStacks, sample.RangeRuntime, sample.RangeArena,
	}
	for _, m := range p.anonymousMappings() {
		for _, page := range p.residentPages(m) {
			i := slices.IndexFunc(order, func(k sample.RangeKind) bool { return within(k, page) })
			if i < 0 {
				unexplained = append(unexplained, page)
				continue
			}
			kinds[order[i]] += kernelPage
		}
	}
	return kinds, unexplained
}

func (p *target) ranges() []sample.PageRange {
	p.t.Helper()
	ranges, err := p.runtime.Ranges(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return ranges
}

func TestEveryResidentPageOutsideTheImageIsInARange(t *testing.T) {
	for _, b := range builds() {
		if b.mode == "cgo" {
			continue // thread stacks and C's heap are no business of the runtime
		}
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("rate 512")
			p.ask("allocate 300000")
			p.ask("goroutines 2000")
			p.ask("big %d", 30<<20)
			p.ask("tree 100000")
			p.ask("gc")
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			kinds, unexplained := p.resident(p.ranges())
			if size := len(unexplained) * kernelPage; size > 100<<10 {
				t.Errorf("%d KiB are in no range, at %x", size>>10, unexplained[:min(len(unexplained), 20)])
			}
			for kind, least := range map[sample.RangeKind]int{
				sample.RangeObjects: 20 << 20, sample.RangeStacks: 4 << 20, sample.RangeRuntime: 500 << 10,
			} {
				if kinds[kind] < least {
					t.Errorf("only %d bytes of kind %d", kinds[kind], kind)
				}
			}
		})
	}
}

func TestRangesSumToTheRuntimesOwnFigures(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("allocate 100000")
			p.ask("goroutines 500")
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			var rt sample.Runtime
			if err := p.stats.Counters(&rt); err != nil {
				t.Fatal(err)
			}
			sum := make(map[sample.RangeKind]sample.Bytes)
			for _, r := range p.ranges() {
				sum[r.Kind] += sample.Bytes(r.End - r.Start)
			}
			if got := sum[sample.RangeObjects] + sum[sample.RangeObjectsNew]; got != rt.HeapInUse {
				t.Errorf("spans with objects are %d bytes, HeapInuse is %d", got, rt.HeapInUse)
			}
			// Manual spans are the stacks and the collector's work buffers.
			if got := sum[sample.RangeStacks]; got < rt.StackInUse || got > rt.StackInUse+rt.GCSys {
				t.Errorf("manual spans are %d bytes, StackInuse is %d", got, rt.StackInUse)
			}
			if heap := rt.HeapInUse + rt.HeapIdle() + sum[sample.RangeStacks]; sum[sample.RangeArena] < heap {
				t.Errorf("the arenas are %d bytes, the heap and the stacks %d", sum[sample.RangeArena], heap)
			}
		})
	}
}

func TestALargeObjectIsNewUntilACollectionHasSeenIt(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("nogc")
			p.ask("gc")
			p.ask("big %d", 32<<20)
			if n := p.newBytes(); n < 32<<20 || n > 33<<20 {
				t.Errorf("%d bytes are new after 32 MiB were allocated", n)
			}
			p.ask("gc")
			if n := p.newBytes(); n >= 1<<20 {
				t.Errorf("%d bytes are still new after a collection", n)
			}
		})
	}
}

func (p *target) newBytes() (n uint64) {
	for _, r := range p.ranges() {
		if r.Kind == sample.RangeObjectsNew {
			n += r.End - r.Start
		}
	}
	return n
}
