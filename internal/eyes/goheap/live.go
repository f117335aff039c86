package goheap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// marker finds what the program can still reach, from its roots through every
// word that could be a pointer. Roots are what the collector's are
// (runtime/mgcmark.go, markroot): data and bss by their pointer masks, stacks,
// special records, queued finalizers.
//
// It errs on the side of live. Objects with pointers are read word by word
// without their types, so a number can keep an object. Of a goroutine that stands
// what the compiler calls alive of its stack counts; of a running one, whose stack
// pointer is in a register, the whole stack; what only a register holds is missed.
// Weak pointers, objects without pointers and pointers in C memory lead nowhere.
type marker struct {
	finBlocks   uint64 // address of runtime.allfin
	specialNext uint64 // offsets within special and specialprofile
	specialKind uint64
	specialOff  gomem.Number // 16 bits to Go 1.23
	bucket      uint64
	profileKind uint64
	finalizer   uint64
	allp        uint64
	writeBuf    area // where a P keeps stale pointers, and how many bytes of them
}

// pageOfKernel is the smallest page that a kernel has.
const pageOfKernel = 4 << 10

// errHeapTooLarge refuses to mark what would take too much of our own memory.
var errHeapTooLarge = errors.New("the heap is too large to be marked")

// attach finds the roots.
func (mk *marker) attach(r *gomem.Runtime, find *gomem.Resolver) error {
	mk.finBlocks, mk.allp = find.Addr("allfin"), find.Addr("allp")
	mk.specialNext, mk.specialKind = find.Offset("special", "next"), find.Offset("special", "kind")
	mk.specialOff, mk.bucket = find.Number("special", "offset"), find.Offset("specialprofile", "b")
	mk.finalizer, mk.profileKind = find.Constant("_KindSpecialFinalizer"), find.Constant("_KindSpecialProfile")
	mk.writeBuf.addr = find.Offset("p", "wbBuf")
	mk.writeBuf.n, _ = find.Layout.FieldSize("runtime.p", "wbBuf")
	if err := find.Err(); err != nil {
		return err
	}
	return errors.Join(r.Why(gomem.FeatureRanges), r.Why(gomem.FeatureGoroutines), r.Why(gomem.FeaturePlugins))
}

// LiveObjects marks everything that the program can reach, and says how much
// that is, and which of the heap profile's samples are among it. The process
// must be held. Profile is nil where nothing is asked of samples. It takes about as long as reading the objects with pointers
// twice, and memory of an eighth of a byte for each byte of the smallest
// objects, so ctx should have a deadline.
func (h *Heap) LiveObjects(ctx context.Context, profile Buckets) (*sample.Liveness, error) {
	if h.why != nil {
		return nil, h.why
	}
	start := time.Now()
	live, err := h.mark(ctx, profile)
	if err != nil {
		return nil, fmt.Errorf("live objects: %w", err)
	}
	live.Took = time.Since(start)
	return live, nil
}

func (h *Heap) mark(ctx context.Context, profile Buckets) (*sample.Liveness, error) {
	r := h.r
	heap, err := heapOf(r)
	if err != nil {
		return nil, err
	}
	m := marking{heap: heap, mem: r.Memory(), ctx: ctx, buf: make([]byte, gomem.WindowSize), cache: spanCache{mem: r.Memory(), heap: heap}}
	specials, err := h.marker.roots(r, &m)
	if err != nil {
		return nil, err
	}
	if err := m.drain(); err != nil {
		return nil, err
	}
	live := &sample.Liveness{Objects: m.objects, Bytes: sample.Bytes(m.bytes), Large: sample.Some(sample.Bytes(m.large))}
	if profile == nil {
		return live, nil
	}
	if n, err := profile.Follow(); err == nil {
		live.Sampled = make([]uint64, n)
		for _, s := range specials {
			if i, ok := profile.IndexOf(s.bucket); ok && heap.reached(s.object) {
				live.Sampled[i]++
			}
		}
	}
	return live, nil
}
