package goheap

import (
	"context"
	"sync"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// What is read by one call, and so lies between two looks at the clock.
const (
	maxBatch  = 4 << 20
	maxPieces = 1024
)

// readAll reads pieces into p, one behind another, with all threads of ours.
func readAll(ctx context.Context, m gomem.Memory, pieces [][2]uint64, p []byte) error {
	b := batches{pieces: pieces, rest: p}
	parallel(workers(), func(int) {
		var buf [][2]uint64
		for ctx.Err() == nil {
			batch, into := b.next(buf)
			if len(batch) == 0 {
				return
			}
			if err := m.ReadPieces(into, batch); err != nil {
				b.fail(err)
				return
			}
			buf = batch
		}
	})
	if b.err != nil {
		return b.err
	}
	return ctx.Err()
}

// batches hands out pieces of a copy.
type batches struct {
	mu     sync.Mutex
	pieces [][2]uint64
	done   uint64 // of the first piece
	rest   []byte
	err    error
}

// next is the pieces of one call and where they are to go; none at the end.
func (b *batches) next(buf [][2]uint64) ([][2]uint64, []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	buf = buf[:0]
	n := uint64(0)
	for len(b.pieces) > 0 && n < maxBatch && len(buf) < maxPieces && b.err == nil {
		from, to := b.pieces[0][0]+b.done, b.pieces[0][1]
		if to-from > maxBatch-n {
			to = from + maxBatch - n
			b.done += to - from
		} else {
			b.pieces, b.done = b.pieces[1:], 0
		}
		buf = append(buf, [2]uint64{from, to})
		n += to - from
	}
	into := b.rest[:n:n]
	b.rest = b.rest[n:]
	return buf, into
}

func (b *batches) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.pieces = err, nil
}
