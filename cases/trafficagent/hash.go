package main

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/highwater-go/highwater/cases/trafficagent/ir"
)

// A node's hash is made of its kind and what is in it. A message is its set
// fields, each as the hash of its number and the hash of its value, in the order
// of the former; so is a map. hashreflect.go computes the same.
const (
	kindText    = 't'
	kindNumber  = 'n'
	kindInteger = 'i'
	kindFlag    = 'b'
	kindList    = 'l'
	kindMap     = 'm'
	kindMessage = 'o'
)

// mostFields is more than the highest number of a field in ir.proto.
const mostFields = 8

// hasher hashes witnesses by the fields that they are known to have: it
// allocates nothing once its buffers have grown.
type hasher struct {
	keys  [mostFields]uint64 // hashes of the numbers of fields
	order [mostFields]int    // numbers by their hashes
	pairs []pair             // of the maps under way
	sums  []byte             // what the nodes under way are summed over
}

type pair struct{ key, value uint64 }

func newHasher() *hasher {
	h := new(hasher)
	for n := range h.keys {
		h.keys[n], h.order[n] = integer(uint64(n)), n
	}
	slices.SortFunc(h.order[:], func(a, b int) int { return cmp.Compare(h.keys[a], h.keys[b]) })
	return h
}

// fields collects the set fields of a message.
type fields struct {
	set    [mostFields]bool
	hashes [mostFields]uint64
}

func (f *fields) put(number int, hash uint64) { f.set[number], f.hashes[number] = true, hash }

func (f *fields) text(number int, s string) {
	if s != "" {
		f.put(number, text64(s))
	}
}

func (h *hasher) message(f *fields) uint64 {
	from := h.begin(kindMessage)
	for _, n := range h.order {
		if f.set[n] {
			h.add(h.keys[n])
			h.add(f.hashes[n])
		}
	}
	return h.end(from)
}

func (h *hasher) witness(w *ir.Witness) uint64 {
	var f fields
	f.text(1, w.Method)
	f.text(2, w.Host)
	f.text(3, w.Path)
	if w.Status != 0 {
		f.put(4, integer(uint64(w.Status)))
	}
	if w.Request != nil {
		f.put(5, h.data(w.Request))
	}
	if w.Response != nil {
		f.put(6, h.data(w.Response))
	}
	return h.message(&f)
}

func (h *hasher) data(d *ir.Data) uint64 {
	var f fields
	switch v := d.Value.(type) {
	case *ir.Data_Primitive:
		f.put(1, h.primitive(v.Primitive))
	case *ir.Data_Struct:
		var inner fields
		if len(v.Struct.Fields) > 0 {
			inner.put(1, h.fieldMap(v.Struct.Fields))
		}
		f.put(2, h.message(&inner))
	case *ir.Data_List:
		var inner fields
		if len(v.List.Elements) > 0 {
			inner.put(1, h.elements(v.List.Elements))
		}
		f.put(3, h.message(&inner))
	}
	if d.Truncated {
		f.put(4, boolean(true))
	}
	return h.message(&f)
}

func (h *hasher) elements(elements []*ir.Data) uint64 {
	from := h.begin(kindList)
	for _, e := range elements {
		h.add(h.data(e)) // leaves the sums as they were
	}
	return h.end(from)
}

func (h *hasher) fieldMap(m map[string]*ir.Data) uint64 {
	from := len(h.pairs)
	for name, d := range m {
		p := pair{text64(name), h.data(d)} // puts pairs of its own, and takes them away
		h.pairs = append(h.pairs, p)
	}
	mine := h.pairs[from:]
	slices.SortFunc(mine, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	start := h.begin(kindMap)
	for _, p := range mine {
		h.add(p.key)
		h.add(p.value)
	}
	h.pairs = h.pairs[:from]
	return h.end(start)
}

func (h *hasher) primitive(p *ir.Primitive) uint64 {
	var f fields
	switch v := p.Value.(type) {
	case *ir.Primitive_Text:
		f.put(1, text64(v.Text))
	case *ir.Primitive_Number:
		f.put(2, number(v.Number))
	case *ir.Primitive_Flag:
		f.put(3, boolean(v.Flag))
	case *ir.Primitive_Hidden:
		f.put(4, integer(v.Hidden))
	}
	f.text(5, p.Format)
	return h.message(&f)
}

// begin begins a sum over what is added until its end; those in between are
// within it and end before it.
func (h *hasher) begin(kind byte) (from int) {
	from = len(h.sums)
	h.sums = append(h.sums, kind)
	return from
}

func (h *hasher) add(n uint64) { h.sums = binary.BigEndian.AppendUint64(h.sums, n) }

func (h *hasher) end(from int) uint64 {
	sum := xxhash.Sum64(h.sums[from:])
	h.sums = h.sums[:from]
	return sum
}

func of(kind byte, n uint64) uint64 {
	var b [9]byte
	b[0] = kind
	binary.BigEndian.PutUint64(b[1:], n)
	return xxhash.Sum64(b[:])
}

func text64(s string) uint64  { return of(kindText, xxhash.Sum64String(s)) }
func integer(n uint64) uint64 { return of(kindInteger, n) }
func number(f float64) uint64 { return of(kindNumber, math.Float64bits(f)) }
func boolean(b bool) uint64 {
	if b {
		return of(kindFlag, 1)
	}
	return of(kindFlag, 0)
}
