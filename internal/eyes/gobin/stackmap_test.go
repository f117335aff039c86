package gobin

import (
	"bytes"
	"testing"
)

// What the maps say is compared with the collector's own view in package heapgraph.
func TestEveryFunctionHasAMapWhereItBegins(t *testing.T) {
	b := open(t, plain.build(t))
	maps, objects := 0, 0
	for i := range b.table.n {
		entry := b.table.text + uint64(b.table.entryOff(i))
		fn, ok := b.FuncAt(entry)
		if !ok {
			continue // behind another's end
		}
		m, ok := fn.StackMap(entry)
		if !ok {
			t.Errorf("%s: no map", fn.Name())
		}
		if !m.NoLocals {
			maps++
		}
		for _, o := range m.Objects {
			objects++
			if o.Size == 0 || o.Size > 1<<20 || o.Offset > 1<<16 {
				t.Errorf("%s: a variable of %d bytes at %d", fn.Name(), o.Size, o.Offset)
			}
		}
	}
	if maps < b.table.n/2 || objects == 0 {
		t.Errorf("%d of %d functions say of their locals, with %d variables", maps, b.table.n, objects)
	}
}

// FuzzStackMap reads masks and variables from any bytes.
func FuzzStackMap(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 9, 0, 0, 0, 1, 1, 0xff, 1}, uint32(1))
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0xff, 0xff, 0xff, 16, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0}, uint32(0))
	f.Add(bytes.Repeat([]byte{0xff}, 40), uint32(1<<31))
	f.Fuzz(func(t *testing.T, data []byte, n uint32) {
		if m, _, ok := wordMask(data, n); ok {
			for i := range m.Words {
				m.Has(i)
			}
		}
		if all := stackObjects(data); len(all)*stackObjectSize > len(data) {
			t.Errorf("%d variables in %d bytes", len(all), len(data))
		}
	})
}
