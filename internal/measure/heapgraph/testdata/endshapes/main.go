// Endshapes is a program of which main's goroutine never stops running: main keeps a table of its own, calls a
// function behind an interface that keeps another, and that one calls what keeps the third. A fourth is in a store of
// main's, and the second of these functions has it in hand. Each table has one object of a size of its own. It prints
// a line before.
package main

import (
	"encoding/json"
	"os"
)

type worker interface{ work(own []*[]byte) int }

type inner struct{ step int }

type store struct{ entries []*[]byte }

type holds struct {
	worker
	store *store
}

//go:noinline
func table(shape int) []*[]byte {
	b := make([]byte, 1<<20+shape<<16)
	return []*[]byte{&b}
}

//go:noinline
func (w *inner) work(own []*[]byte) int {
	mine := table(1)
	n := spin(w.step)
	return n + len(*mine[0]) + len(*own[0])
}

//go:noinline
func (h *holds) work(own []*[]byte) int {
	inHand := h.store.entries
	return h.worker.work(own) + len(*inHand[0])
}

//go:noinline
func spin(step int) (n int) {
	mine := table(2)
	for step > 0 {
		n += add(*mine[0], step)
	}
	return n + len(mine)
}

//go:noinline
func add(b []byte, step int) (n int) {
	for i := range b {
		b[i] += byte(n)
		n += step
	}
	return n
}

//go:noinline
func early(n int) int {
	if n == 0 {
		return 1
	}
	var room [64]int // more than the frames below start have, so that some of it stays
	room[n] = early(n-1) + n
	return room[n] + room[0]
}

//go:noinline
func start(w worker) int {
	mine := table(0)
	n := early(12) // whose frames lie where those of work will
	return n + w.work(mine) + len(*mine[0])
}

//go:noinline
func newHolds() *holds { return &holds{worker: &inner{step: 1}, store: &store{table(3)}} }

func main() {
	_ = json.NewEncoder(os.Stdout).Encode(map[string]int{"Shapes": 4})
	h := newHolds()
	n := start(h)
	os.Exit(n + len(h.store.entries))
}
