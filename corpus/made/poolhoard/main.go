// Poolhoard has a pool of buffers that takes every buffer back, and gives one out
// only where its size is what was asked for; each is asked for once. Repaired, the
// pool has a bound.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

type pool struct {
	free [][]byte
	most int // buffers; 0: no bound
}

func main() {
	f := frame.Parse()
	p := &pool{}
	if f.Repaired {
		p.most = 64
	}
	f.Each(func(i int) {
		b := p.get(f.Unit + i%977)
		p.put(frame.Touch(b))
	})
	f.Stay()
}

func (p *pool) get(size int) []byte {
	if n := len(p.free); n > 0 && len(p.free[n-1]) == size {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return make([]byte, size) // truth: allocates
}

func (p *pool) put(b []byte) {
	if p.most > 0 && len(p.free) >= p.most {
		return
	}
	p.free = append(p.free, b) // truth: keeps
}
