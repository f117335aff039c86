package cli

import (
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
)

// What a command that reads a file may take by default. A recording of a week needs a
// tenth of it; one that was made to be hostile gets no more.
const (
	mostReading = 1 * sample.GiB
	longReading = 30 * time.Second
)

// bound are the memory and the time that a reading command may take. Foreign files are
// read with bounds everywhere; this one holds where such a bound was forgotten.
type bound struct {
	memory string
	time   time.Duration
	live   *live // nil: nobody is told how long it takes
}

// add gives a command the flags, and has it run within them.
func addBound(b *bound, c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&b.memory, "max-memory", "", "use at most this `size` of memory (default: 1GiB)")
	addTime(b, c)
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		return b.within(c.Name(), func() error { return run(c, args) })
	}
	return c
}

func addTime(b *bound, c *cobra.Command) {
	c.Flags().DurationVar(&b.time, "max-time", longReading, "use at most this `time` of a CPU")
}

// within does something within the bounds.
func (b *bound) within(what string, do func() error) error {
	most, err := b.most(mostReading)
	if err != nil {
		return err
	}
	return (&watchman{what: what, most: most, long: b.time, live: b.live}).run(do)
}

// most is the memory asked for.
func (b *bound) most(byDefault sample.Bytes) (sample.Bytes, error) {
	if b.memory == "" {
		return byDefault, nil
	}
	n, err := units.ParseSize(b.memory)
	if err != nil {
		return 0, usagef("--max-memory 2GiB", "--max-memory: %w", err)
	}
	return sample.Bytes(n), nil
}

// watchman looks at what this process takes while it does something for which it has
// bounds. Zero is no bound.
type watchman struct {
	what string // the command
	most sample.Bytes
	long time.Duration // of its processors' time
	// serving: the time counts while there are requests alone, and from each first one on.
	serving bool
	lenient bool // the collector is left as it is
	live    *live

	mu    sync.Mutex
	busy  int           // what it does: its one thing, or requests
	began time.Duration // the process's own time when that began
}

// slow is what takes so long that it is said how long.
const slow = time.Second

// lookEvery is how often it looks: a gigabyte takes longer to be touched.
const lookEvery = 20 * time.Millisecond

// run does it, and returns before it is done where that takes more than it may: what
// reads may be anywhere then, in SQLite's code too, and ends with the process.
func (w *watchman) run(do func() error) error {
	if os.Getenv("GOMEMLIMIT") == "" && !w.lenient { // the collector comes before we do
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(w.most / 4 * 3)))
	}
	if !w.serving {
		w.begin()
	}
	if err := w.look(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	began, tick := time.Now(), time.NewTicker(lookEvery)
	defer tick.Stop()
	defer w.tell(0)
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			if err := w.look(); err != nil {
				return err
			}
			w.tell(time.Since(began))
		}
	}
}

// tell shows how long it has taken, once that is long; 0: it is over.
func (w *watchman) tell(took time.Duration) {
	switch {
	case w.live == nil || w.serving:
	case took == 0:
		w.live.end()
	case took >= slow:
		w.live.draw(fmt.Sprintf("highwater %s: working for %s", w.what, elapsed(took)))
	}
}

func (w *watchman) look() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.most > 0 && usedMemory() > w.most {
		return w.refuse("more memory than it may, "+units.Size(w.most), "--max-memory 4GiB allows more")
	}
	if w.long > 0 && w.busy > 0 && usedTime()-w.began > w.long {
		return w.refuse("more time than it may, "+units.Duration(w.long)+" of a processor", "--max-time 5m allows more")
	}
	return nil
}

func (w *watchman) refuse(why, hint string) error {
	return &exitError{code: exitFailed, err: fmt.Errorf("%s needs %s: what it reads is very large, or was made to do harm", w.what, why), hint: hint}
}

func (w *watchman) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy++; w.busy == 1 {
		w.began = usedTime()
	}
}

func (w *watchman) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
}

// around counts a server's requests.
func (w *watchman) around(h http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.begin()
		defer w.rest()
		h.ServeHTTP(out, r)
	})
}

// goMemory is what Go's runtime has of the system, and has not given back.
func goMemory() sample.Bytes {
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return sample.Bytes(m[0].Value.Uint64() - m[1].Value.Uint64())
}
