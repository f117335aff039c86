package procfs

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrStuck says that a page of a process's memory did not come. A program may map
// what never answers, FUSE's files or memory that userfaultfd(2) fills, and a read of
// it then waits in the kernel, where no signal but SIGKILL reaches.
var ErrStuck = errors.New("a page of its memory does not come: what is mapped there does not answer (FUSE, userfaultfd, a file server)")

// patience is how often it is looked whether a call has been under way since the last
// look: one is given up after once to twice this time. What is swapped out comes within
// some milliseconds.
const patience = 400 * time.Millisecond

// mostReaders bounds the calls of one Memory at once, and what hangs of them.
const mostReaders = 64

// patiently makes a call that may never return, and gives it up after a second.
func patiently[T any](call func() (T, error)) (T, error) {
	type answer struct {
		what T
		err  error
	}
	came := make(chan answer, 1)
	go func() {
		what, err := call()
		came <- answer{what, err}
	}()
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case a := <-came:
		return a.what, a.err
	case <-timer.C:
		var none T
		return none, ErrStuck
	}
}

// readers make calls that may never return, each on a goroutine of its own, so that
// who waits for one holds its locks for a short time only. A call that was given up
// keeps a thread until it returns, if it ever does; until then all others are refused.
// The zero value is ready.
type readers struct {
	stuck atomic.Int32 // calls that were given up and have not returned

	mu     sync.Mutex
	idle   []*reader
	busy   []*reader
	asked  bool // since the last look
	timer  *time.Timer
	closed bool
}

// reader is one goroutine.
type reader struct {
	todo  chan call
	done  chan result
	state atomic.Uint32 // free, underWay or givenUp
	seen  bool          // under way at the last look
}

const (
	free uint32 = iota
	underWay
	givenUp
)

// call is what a reader is to do: fill p from an address, or from pieces, or write it
// there.
type call struct {
	of     *Memory
	kind   kind
	p      []byte
	addr   int64
	pieces [][2]uint64
}

type kind uint8

const (
	readAt kind = iota
	readPieces
	writeAt
)

func (c *call) do() (int, error) {
	switch c.kind {
	case readPieces:
		return c.of.piecesNow(c.p, c.pieces)
	case writeAt:
		return c.of.writeNow(c.p, c.addr)
	}
	return c.of.readNow(c.p, c.addr)
}

type result struct {
	n    int
	err  error
	lost bool // it was given up
}

// bounceUpTo is the size up to which a call fills memory of ours, which is
// then copied. Beyond it fills the caller's own, which the caller must not use after
// ErrStuck: the kernel may still write there.
const bounceUpTo = 16 << 10

// call makes a call and waits for it. The error is ErrStuck where it was given up, or
// where an earlier one hangs.
func (r *readers) call(c call) (int, error) {
	w, err := r.take()
	if err != nil {
		return 0, err
	}
	own := c.p
	var bounce *[bounceUpTo]byte
	if len(own) <= bounceUpTo {
		bounce = bounces.Get().(*[bounceUpTo]byte)
		c.p = bounce[:len(own)]
		if c.kind == writeAt {
			copy(c.p, own)
		}
	}
	w.state.Store(underWay)
	w.todo <- c
	res := <-w.done
	if res.lost { // and what it fills
		return 0, ErrStuck
	}
	if bounce != nil {
		if c.kind != writeAt {
			copy(own, c.p[:res.n])
		}
		bounces.Put(bounce)
	}
	r.put(w)
	return res.n, res.err
}

// bounces are lent to one call each: kept by the reader of each of a hundred programs they
// were the largest that a watch had of them.
var bounces = sync.Pool{New: func() any { return new([bounceUpTo]byte) }}

// take takes a reader that has nothing to do.
func (r *readers) take() (*reader, error) {
	if r.stuck.Load() > 0 {
		return nil, ErrStuck
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.busy) >= mostReaders {
		return nil, ErrStuck
	}
	var w *reader
	if n := len(r.idle); n > 0 {
		w, r.idle = r.idle[n-1], r.idle[:n-1]
	} else {
		w = &reader{todo: make(chan call), done: make(chan result, 1)}
		go r.run(w)
	}
	w.seen = false
	r.busy = append(r.busy, w)
	r.watch()
	return w, nil
}

// put gives it back.
func (r *readers) put(w *reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(w)
	if r.closed {
		close(w.todo)
		return
	}
	r.idle = append(r.idle, w)
}

func (r *readers) remove(w *reader) {
	for i, b := range r.busy {
		if b == w {
			last := len(r.busy) - 1
			r.busy[i], r.busy[last] = r.busy[last], nil
			r.busy = r.busy[:last]
			return
		}
	}
}

// run is the life of a reader. It ends with the Memory, or with a call that was given
// up and has returned after all.
func (r *readers) run(w *reader) {
	for c := range w.todo {
		n, err := c.do()
		if !w.state.CompareAndSwap(underWay, free) {
			r.stuck.Add(-1)
			return
		}
		w.done <- result{n: n, err: err}
	}
}

// watch has look called soon. The caller holds the lock.
func (r *readers) watch() {
	if r.asked {
		return
	}
	r.asked = true
	if r.timer == nil {
		r.timer = time.AfterFunc(patience, r.look)
	} else {
		r.timer.Reset(patience)
	}
}

// look gives up what was under way at the last look, too. It is called again as long
// as there was something to do.
func (r *readers) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = false
	for i := len(r.busy) - 1; i >= 0; i-- {
		w := r.busy[i]
		if w.seen && w.state.CompareAndSwap(underWay, givenUp) {
			r.stuck.Add(1)
			r.remove(w)
			w.done <- result{lost: true}
			continue
		}
		w.seen = true
	}
	if len(r.busy) > 0 {
		r.watch()
	}
}

// close ends the readers that have nothing to do, and the others after their call.
func (r *readers) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, w := range r.idle {
		close(w.todo)
	}
	r.idle = nil
}
