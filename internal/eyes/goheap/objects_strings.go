package goheap

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// tinySlot is the size of objects of which one may hold several strings, each of fewer
// bytes (runtime/malloc.go, maxTinySize).
const tinySlot = 16

// stringBytes is what a string takes of ours, here while the list grows and in what
// compares them.
const stringBytes = 48

// stringAt is where a string's bytes lie.
type stringAt struct {
	object uint32
	length uint32
	into   uint8 // of a slot for several, how far behind its beginning
}

// stringList is the strings that are met while types are found.
type stringList struct {
	mem  gomem.Memory
	all  []stringAt
	most int    // that there is room for
	left uint64 // more
}

// WantStrings has FindTypes note where the heap's strings lie, for HashStrings. It must
// be called before.
func (o *Objects) WantStrings() {
	l := &stringList{mem: o.copy.mem, most: math.MaxInt32}
	if limit := o.copy.limit; limit > 0 {
		l.most = int((limit - min(limit, o.takes(len(o.To)))) / stringBytes)
	}
	o.strings = l
}

// note takes in a string of n bytes that lies so far in an object without pointers, of a
// slot's size (0: one that has its span for itself). A part of a longer string is none of
// its own.
func (l *stringList) note(object uint32, slot, into, n uint64) {
	switch {
	case n == 0 || n > math.MaxUint32 || slot != 0 && into+n > slot || into != 0 && slot != tinySlot:
	case len(l.all) >= l.most:
		l.left++
	default:
		l.all = append(l.all, stringAt{object, uint32(n), uint8(into)})
	}
}

// once puts the list in the order of addresses, without what lies in another string.
func (l *stringList) once() {
	slices.SortFunc(l.all, func(a, b stringAt) int {
		return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.into, b.into), cmp.Compare(b.length, a.length))
	})
	last := stringAt{object: math.MaxUint32}
	l.all = slices.DeleteFunc(l.all, func(s stringAt) bool {
		if s.object == last.object && uint32(s.into) < uint32(last.into)+last.length {
			return true
		}
		last = s
		return false
	})
}

// StringsLeft says what is missing of the strings.
type StringsLeft struct {
	NoRoom uint64 // the limit had no room for them
	Unread uint64 // their bytes are not there any more
}

// HashStrings reads the strings of the heap from the process or core and passes each, by
// its object and length, to fn, with a hash by which equal ones are known; it is another
// in each call. No contents are kept. They are read while the program runs: what it let
// go of since the copy may have others.
func (o *Objects) HashStrings(ctx context.Context, fn func(object, length uint32, hash uint64)) (StringsLeft, error) {
	l := o.strings
	l.once()
	left := StringsLeft{NoRoom: l.left}
	r := stringReader{mem: l.mem, buf: make([]byte, gomem.WindowSize), fn: fn}
	r.hash.SetSeed(maphash.MakeSeed())
	for i, s := range l.all {
		r.add(s, o.Address(s.object)+uint64(s.into))
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return left, ctx.Err()
		}
	}
	r.flush()
	left.Unread = r.unread
	o.strings = nil
	return left, nil
}

// stringReader reads strings, which come in the order of their addresses, many at once.
type stringReader struct {
	mem     gomem.Memory
	fn      func(object, length uint32, hash uint64)
	hash    maphash.Hash
	buf     []byte
	windows gomem.Windows
	waiting []waitingString
	unread  uint64
}

// waitingString is to be read; its bytes will lie at in the buffer.
type waitingString struct {
	stringAt
	addr uint64
	at   int
}

func (r *stringReader) add(s stringAt, addr uint64) {
	at, ok := r.windows.Join(addr, uint64(s.length), len(r.buf))
	if !ok {
		r.flush()
		at, ok = r.windows.Join(addr, uint64(s.length), len(r.buf))
	}
	if !ok {
		r.long(s, addr)
		return
	}
	r.waiting = append(r.waiting, waitingString{s, addr, at})
}

// flush reads what waits.
func (r *stringReader) flush() {
	w := &r.windows
	// One byte first: that fails if the process is another one by now.
	together := w.Size > 0 && r.mem.Read(w.Pieces[0][0], r.buf[:1]) == nil && r.mem.ReadPieces(r.buf[:w.Size], w.Pieces) == nil
	for _, s := range r.waiting {
		b := r.buf[s.at:][:s.length]
		if !together && r.mem.Read(s.addr, b) != nil {
			r.unread++
			continue
		}
		r.hash.Reset()
		r.hash.Write(b)
		r.fn(s.object, s.length, r.hash.Sum64())
	}
	w.Forget()
	r.waiting = r.waiting[:0]
}

// long reads a string that is longer than the buffer.
func (r *stringReader) long(s stringAt, addr uint64) {
	r.hash.Reset()
	for left := int(s.length); left > 0; {
		b := r.buf[:min(left, len(r.buf))]
		if r.mem.Read(addr, b) != nil {
			r.unread++
			return
		}
		r.hash.Write(b)
		addr, left = addr+uint64(len(b)), left-len(b)
	}
	r.fn(s.object, s.length, r.hash.Sum64())
}
