// Closure registers a callback for every order, which captures the order with its
// document although it needs the number alone. Repaired, it captures the number.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

type order struct {
	number   int
	document []byte
}

type shop struct{ onClose []func() int }

func main() {
	f := frame.Parse()
	s := &shop{}
	f.Each(func(i int) { s.accept(read(i, f.Unit), f.Repaired) })
	f.Stay()
	sum := 0
	for _, done := range s.onClose {
		sum += done()
	}
	if sum < 0 {
		panic("no order has a number below 0")
	}
}

func read(i, size int) *order {
	return &order{i, frame.Touch(make([]byte, size))} // truth: allocates
}

func (s *shop) accept(o *order, repaired bool) {
	if repaired {
		number := o.number
		s.onClose = append(s.onClose, func() int { return number })
		return
	}
	s.onClose = append(s.onClose, func() int { return o.number }) // truth: keeps
}
