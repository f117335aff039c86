package watch

import (
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Common is what the sources of one watcher share: the thread that holds their programs at
// the exit, who was started by whom, and the machine's memory, which is read once for all.
// It may be used from several goroutines.
type Common struct {
	thread *lastbreath.OSThread
	kin    *procfs.Kin
	host   host
}

// NewCommon is for sources that read a /proc. The caller closes it after the last of them.
func NewCommon(root string) *Common {
	return &Common{thread: lastbreath.NewOSThread(), kin: procfs.NewKin(root), host: openHost(root)}
}

// Retire says that all sources are about to be closed. No more can be made then.
func (c *Common) Retire() { c.thread.Retire() }

// Close closes what is shared.
func (c *Common) Close() {
	c.thread.Retire()
	c.kin.Close()
	c.host.close()
}

// host reads the machine's memory and its pressure, for one source or for many.
type host struct {
	watcher *procfs.HostWatcher // nil: it cannot be read
	err     error

	mu          *sync.Mutex
	at          time.Time // when it was last read
	memory      sample.Host
	pressure    sample.Pressure
	memoryErr   error
	pressureErr error
}

func openHost(root string) host {
	h := host{mu: &sync.Mutex{}}
	h.watcher, h.err = procfs.WatchHost(root)
	return h
}

// read gives what was seen half of hostEvery ago, or later.
func (h *host) read(now time.Time, memory *sample.Host, pressure *sample.Pressure) (memoryErr, pressureErr error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Sub(h.at) >= hostEvery/2 {
		h.at = now
		h.memoryErr = h.watcher.Host(&h.memory)
		h.pressureErr = h.watcher.Pressure(&h.pressure)
	}
	*memory, *pressure = h.memory, h.pressure
	return h.memoryErr, h.pressureErr
}

func (h *host) close() {
	if h.watcher != nil {
		h.watcher.Close()
	}
}
