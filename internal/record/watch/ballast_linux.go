package watch

import (
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ballast is memory that is held for the sake of its charge. A watcher in the
// cgroup of a program that the kernel kills for its memory gets no page of its
// own any more, and starves at its first page fault; giving this up first makes
// room for what it reads. Measured under 256 MiB, ten kills each, 16 MiB: with it
// all were read completely; without it what was live was never marked in time,
// and each watch took 4 s instead of 0.4.
type ballast struct {
	mu   sync.Mutex
	size int // 0: none is needed
	mem  []byte
	held bool
	ends int // kills that are being read: until the last one is, none is taken
}

// stuck is how many goroutines of ours may wait for a page while the tracer's runs:
// one that waits keeps its processor, as Go's scheduler cannot see a page fault.
// Measured with one processor, under 256 MiB: in 8 of 60 kills the tracer had none
// until the kernel had taken the victim's pages away, 2 s later.
const stuck = 4

// Of a limit, what may be asked for: what is read of a heap grows with it.
const (
	ballastShare = 16
	minBallast   = 8 * sample.MiB
	maxBallast   = 64 * sample.MiB
)

// load sets the ballast for a limit and takes it.
func (b *ballast) load(limit sample.Bytes) {
	b.mu.Lock()
	b.size = int(min(max(limit/ballastShare, minBallast), maxBallast))
	b.mu.Unlock()
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 1+stuck))
	// Pages of our executable count as the cgroup's, too, and are the first that the
	// kernel takes when it is full; to have one read again needs room that there is
	// not. It may be refused (CAP_IPC_LOCK or RLIMIT_MEMLOCK): then they may go.
	_ = unix.Mlockall(unix.MCL_CURRENT | unix.MCL_ONFAULT)
	b.take()
}

// needed says whether a limit was set.
func (b *ballast) needed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size > 0
}

// take maps the ballast, unless that is done, and touches it. Where it is refused
// there is none: the watch works on.
func (b *ballast) take() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size == 0 || b.held || b.ends > 0 {
		return
	}
	if b.mem == nil {
		mem, err := unix.Mmap(-1, 0, b.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return
		}
		b.mem = mem
	}
	for i := 0; i < len(b.mem); i += os.Getpagesize() {
		b.mem[i] = 1
	}
	b.held = true
}

// drop gives the ballast up until over is called. The mapping stays: to unmap it one would have to wait
// for the very page faults that it is dropped for.
//
// It gives what was given up.
func (b *ballast) drop() (n sample.Bytes) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends++
	if b.held {
		_ = unix.Madvise(b.mem, unix.MADV_DONTNEED) // fails for what is not mapped only
		b.held, n = false, sample.Bytes(b.size)
	}
	return n
}

// over ends a drop.
func (b *ballast) over() {
	b.mu.Lock()
	b.ends--
	b.mu.Unlock()
}
