// Puddlewarm asks a search engine over connections of a jackc/puddle pool, each with large
// buffers. The load rises for a while, and with it the number of connections, up to the
// bound of the pool; from then on all are in use. No fault, and it has no faulty form.
package main

import (
	"context"
	"hash/crc32"
	"log"

	"github.com/jackc/puddle/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// connBytes is what a connection has, of buffers.
const connBytes = 256 << 10

type conn struct {
	out, in []byte
	asked   int
}

type front struct {
	pool *puddle.Pool[*conn]
	busy []*puddle.Resource[*conn]
	most int
	sum  uint32
}

func main() {
	f := frame.Parse()
	s := &front{most: max(1, int(f.Total/connBytes))}
	pool, err := puddle.NewPool(&puddle.Config[*conn]{Constructor: dial, Destructor: func(*conn) {}, MaxSize: int32(s.most)})
	if err != nil {
		log.Fatal(err)
	}
	s.pool = pool
	f.Total = 0
	f.Each(func(i int) {
		at := min(s.most, 1+int(int64(i)*int64(f.Unit)/connBytes))
		if err := s.ask(context.Background(), i, at); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func dial(context.Context) (*conn, error) {
	return &conn{
		out: frame.Touch(make([]byte, connBytes/4)),   // truth: allocates
		in:  frame.Touch(make([]byte, 3*connBytes/4)), // truth: allocates
	}, nil
}

// ask puts a question, while at others are under way.
func (s *front) ask(ctx context.Context, i, at int) error {
	for len(s.busy) >= at {
		s.answered(s.busy[0])
		s.busy = append(s.busy[:0], s.busy[1:]...)
	}
	r, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	c := r.Value()
	c.asked++
	c.out[i%len(c.out)] = byte(i)
	s.busy = append(s.busy, r)
	return nil
}

func (s *front) answered(r *puddle.Resource[*conn]) {
	c := r.Value()
	n := copy(c.in, c.out)
	s.sum ^= crc32.ChecksumIEEE(c.in[:min(n, 4<<10)])
	r.Release()
}
