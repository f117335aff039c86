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
// allocates for maps only, and no more than their pairs.
type hasher struct {
	keys  [mostFields]uint64 // hashes of the numbers of fields
	order [mostFields]int    // numbers by their hashes
	pairs []pair             // of the maps under way
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
	s := newSum(kindMessage)
	for _, n := range h.order {
		if f.set[n] {
			s.add(h.keys[n])
			s.add(f.hashes[n])
		}
	}
	return s.end()
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
	s := newSum(kindList)
	for _, e := range elements {
		s.add(h.data(e))
	}
	return s.end()
}

func (h *hasher) fieldMap(m map[string]*ir.Data) uint64 {
	from := len(h.pairs)
	for name, d := range m {
		p := pair{text64(name), h.data(d)} // puts pairs of its own, and takes them away
		h.pairs = append(h.pairs, p)
	}
	mine := h.pairs[from:]
	slices.SortFunc(mine, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	s := newSum(kindMap)
	for _, p := range mine {
		s.add(p.key)
		s.add(p.value)
	}
	h.pairs = h.pairs[:from]
	return s.end()
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

// sum is a hash in the making.
type sum struct{ digest xxhash.Digest }

func newSum(kind byte) *sum {
	s := new(sum)
	s.digest.Reset()
	s.digest.Write([]byte{kind})
	return s
}

func (s *sum) add(n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	s.digest.Write(b[:])
}

func (s *sum) end() uint64 { return s.digest.Sum64() }

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
