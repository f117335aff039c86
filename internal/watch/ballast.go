package watch

import (
	"os"
	"sync"
	"syscall"

	"github.com/highwater-go/highwater/internal/sample"
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
}

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
	b.take()
}

// take maps the ballast and touches it, unless it is there. Where it is refused
// there is none: the watch works on.
func (b *ballast) take() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size == 0 || b.mem != nil {
		return
	}
	mem, err := syscall.Mmap(-1, 0, b.size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return
	}
	for i := 0; i < len(mem); i += os.Getpagesize() {
		mem[i] = 1
	}
	b.mem = mem
}

// drop gives the ballast up.
func (b *ballast) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mem != nil {
		_ = syscall.Munmap(b.mem) // fails for what is not mapped only
		b.mem = nil
	}
}
