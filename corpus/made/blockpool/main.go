// Blockpool receives files and writes them to a store, through blocks of a pool that has made
// all of them at the start: a reader that finds none waits. It needs as much as the blocks
// are, always. No fault, and it has no faulty form.
package main

import (
	"crypto/md5"
	"hash"
	"io"
	"log"
	"sync/atomic"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type block struct {
	bytes []byte
	used  int
}

// pool is of blocks that are there already.
type pool struct{ free chan *block }

func newPool(blocks, size int) *pool {
	p := &pool{make(chan *block, blocks)}
	for range blocks {
		p.free <- &block{bytes: frame.Touch(make([]byte, size))}
	}
	return p
}

func (p *pool) get() *block { return <-p.free }

func (p *pool) put(b *block) {
	b.used = 0
	p.free <- b
}

// source is a file that comes over a line.
type source struct{ left, n int }

func (s *source) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), s.left)
	for i := 0; i < n; i += 64 {
		p[i] = byte(s.n + i)
	}
	s.left -= n
	s.n++
	return n, nil
}

type receiver struct {
	pool   *pool
	blocks chan *block
	sum    hash.Hash
	stored atomic.Int64
}

func (r *receiver) receive(from io.Reader) error {
	for {
		b := r.pool.get()
		n, err := io.ReadFull(from, b.bytes)
		b.used = n
		if n == 0 {
			r.pool.put(b)
		} else {
			r.blocks <- b
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// store writes blocks as fast as its disk is.
func (r *receiver) store() {
	for b := range r.blocks {
		r.sum.Write(b.bytes[:b.used])
		r.stored.Add(int64(b.used))
		r.pool.put(b)
		time.Sleep(200 * time.Microsecond)
	}
}

func main() {
	f := frame.Parse()
	blocks := max(f.Count(), 2)
	r := &receiver{pool: newPool(blocks, f.Unit), blocks: make(chan *block, blocks), sum: md5.New()}
	go r.store()
	log.Print(frame.Done)
	for i := 0; !f.Over(); i++ {
		if err := r.receive(&source{left: 1<<20 + i%1000, n: i}); err != nil {
			log.Fatal(err)
		}
	}
	log.Printf("%d bytes stored", r.stored.Load())
}
