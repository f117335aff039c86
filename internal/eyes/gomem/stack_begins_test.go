package gomem

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// counted counts the reads of a memory.
type counted struct {
	holes
	reads int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	return c.holes.ReadAt(p, off)
}

func TestStacksBesideEachOtherAreReadAtOnce(t *testing.T) {
	const at, size, far = 0x100000, 2 << 10, 0x9000000
	m := holes{at: make([]byte, 1000*size), far: make([]byte, 3*size)}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, data := range m {
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
	}
	stack := func(lo uint64, used uint64) Goroutine {
		return Goroutine{Lo: lo, Hi: lo + size, SP: lo + size - used, Status: StatusWaiting}
	}
	var all []Goroutine
	for i := range uint64(1000) {
		all = append(all, stack(at+i*size, 8+i%(size/8)*8))
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	running, alone, gone, deep := len(all), len(all)+1, len(all)+2, len(all)+3
	all = append(all, stack(at, 64), stack(far, 64), stack(far<<4, 64), Goroutine{Lo: at, Hi: at + 9*size, SP: at, Status: StatusWaiting})
	all[running].Status = StatusRunning

	from := &counted{holes: m}
	s := stackBegins{mem: Memory{from}, buf: make([]byte, WindowSize)}
	for range 2 { // what is read a second time has nothing of the first
		s.read(all)
		for i := range all {
			g := &all[i]
			if i == running || i == alone || i == gone {
				if s.begin[i] != nil {
					t.Errorf("goroutine %d, of which nothing is to be read, has %d bytes", i, len(s.begin[i]))
				}
				continue
			}
			want := m[at][g.SP-at:][:min(g.Hi-g.SP, stackPiece)]
			if !bytes.Equal(s.begin[i], want) {
				t.Fatalf("%d bytes from %#x are not those of the memory", len(s.begin[i]), g.SP)
			}
		}
	}
	if n := len(s.begin[deep]); n != stackPiece {
		t.Errorf("%d bytes of a deep stack", n)
	}
	if most := 2 * (2 + 1000*size/(WindowSize-size)); from.reads > most {
		t.Errorf("%d reads, at most %d are needed", from.reads, most)
	}
}
