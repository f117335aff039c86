package goheap

import "github.com/highwater-go/highwater/internal/eyes/gomem"

// A sync.Pool keeps what was put into it until GC has run twice (sync/pool.go, poolCleanup), and what that leads to:
// a request's buffer that knows its connection, and so the whole server. What pools have is led to by roots behind
// the goroutines for that: what these lead to is theirs.

const (
	// Pool.local and Pool.victim (sync/pool.go), each an array with a part for each P.
	poolLocal, poolVictim = 0, 16
	// Bounds for what a program says untrue things of itself: pools of a list, and references of that function, which has about twenty.
	maxPools    = 1 << 16
	maxPoolRefs = 64
)

// pools are a program's, by runtime addresses.
type pools struct {
	words  map[uint64]bool // in variables, that lead to what pools have: their own, and those of the lists of all pools
	inHeap []uint64        // those that are objects, or parts of one
}

// findPools reads the lists through which GC finds all pools. The code of the function that empties them says where
// the lists are.
func findPools(o *Objects, c *heapCopy) pools {
	found, m := pools{words: make(map[uint64]bool)}, c.memory()
	seen := make(map[uint64]bool)
	refs := c.bin.UsedBy("sync.poolCleanup")
	for _, addr := range refs[:min(len(refs), maxPoolRefs)] {
		addr += c.bias
		list, n, ok := sliceAt(m, addr)
		if _, isObject := o.At(list); !ok || !isObject || seen[addr] {
			continue // no slice, or one without elements
		}
		seen[addr], found.words[addr] = true, true
		for i := range n {
			pool, err := m.U64(list + 8*i)
			if err != nil || pool == 0 || seen[pool] {
				continue
			}
			seen[pool] = true
			if _, ok := o.At(pool); !ok {
				found.words[pool+poolLocal], found.words[pool+poolVictim] = true, true
			} else if c.thin == nil { // a sample has no words of what it left out
				found.inHeap = append(found.inHeap, pool)
			}
		}
	}
	return found
}

// sliceAt reads the slice at an address, if it may be one.
func sliceAt(m gomem.Memory, addr uint64) (list, n uint64, ok bool) {
	list, err := m.U64(addr)
	if err != nil {
		return 0, 0, false
	}
	n, err = m.U64(addr + 8)
	if err != nil || n > maxPools {
		return 0, 0, false
	}
	most, err := m.U64(addr + 16)
	return list, n, err == nil && n <= most && most <= maxPools
}

// PoolIn is a sync.Pool that is an object, or a part of one.
type PoolIn struct {
	Object uint32
	at     []uint64 // where the words lie in it that lead to what the pool has, in the order of the root's pointers
}

// poolWord is a word of a variable that leads to what a pool has.
type poolWord struct {
	root Root
	slot uint32
	to   uint64
}

// addPools adds what they lead to.
func (ro *rooter) addPools() {
	for i, w := range ro.ofPools {
		if i == 0 || ro.ofPools[i-1].root.addr != w.root.addr {
			ro.add(w.root)
		}
		ro.point(w.slot, w.to)
	}
	typ := ro.types.at(ro.types.index().byName["sync.Pool"])
	for _, pool := range ro.pools.inHeap {
		id, _, behind, ok := ro.o.find(pool)
		if !ok {
			continue
		}
		in := &PoolIn{Object: id}
		ro.add(Root{Kind: RootVariable, Name: "a sync.Pool", typ: typ, addr: pool, Pool: in})
		behind -= ro.o.spans[ro.o.spanOf(id)].header()
		for _, off := range []uint64{poolLocal, poolVictim} {
			to, err := ro.c.memory().U64(pool + off)
			if array, ok := ro.o.At(to); err == nil && ok {
				ro.lead(uint32(off/8), array)
				in.at = append(in.at, behind+off)
			}
		}
	}
}

// PoolLabel is what the n-th pointer of a root that is a pool of an object is called as a field of that:
// ".buffers.local"; 0 if it is not known. FindTypes must have been called.
func (o *Objects) PoolLabel(p *PoolIn, n int) int32 {
	ref := o.TypeOf(p.Object)
	size := o.Types.all[ref.index()].size
	if ref == 0 || size == 0 || n >= len(p.at) {
		return 0
	}
	sl := o.Types.slotAt(ref.index(), p.at[n]%size)
	if ref.array() {
		return sl.arrayed
	}
	return sl.label
}
