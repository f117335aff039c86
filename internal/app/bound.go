package app

import (
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// What a command that reads a file may take by default. A recording of a week needs a
// tenth of it; one that was made to be hostile gets no more.
const (
	MostReading = 1 * sample.GiB
	LongReading = 30 * time.Second
)

// Bound are the memory and the time that a reading command may take. Foreign files are
// read with bounds everywhere; this one holds where such a bound was forgotten.
type Bound struct {
	Memory string
	Time   time.Duration
	Live   *live // nil: nobody is told how long it takes
}

// Within does something within the bounds.
func (b *Bound) Within(what string, do func() error) error {
	most, err := b.Most(MostReading)
	if err != nil {
		return err
	}
	return (&Watchman{What: what, Most: most, Long: b.Time, live: b.Live}).Run(do)
}

// Most is the memory asked for.
func (b *Bound) Most(byDefault sample.Bytes) (sample.Bytes, error) {
	if b.Memory == "" {
		return byDefault, nil
	}
	n, err := units.ParseSize(b.Memory)
	if err != nil {
		return 0, Usagef("--max-memory 2GiB", "--max-memory: %w", err)
	}
	return sample.Bytes(n), nil
}

// Watchman looks at what this process takes while it does something for which it has
// bounds. Zero is no bound.
type Watchman struct {
	What string // the command
	Most sample.Bytes
	Long time.Duration // of its processors' time
	// Serving means that the time counts while there are requests alone, and from each first one on.
	Serving bool
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

// Run does it, and returns before it is done where that takes more than it may: what
// reads may be anywhere then, in SQLite's code too, and ends with the process.
func (w *Watchman) Run(do func() error) error {
	if os.Getenv("GOMEMLIMIT") == "" && !w.lenient { // the collector comes before we do
		lower := min(debug.SetMemoryLimit(-1), int64(w.Most/4*3)) // one that is low already, as in a small container, stays
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(lower))
	}
	if !w.Serving {
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
func (w *Watchman) tell(took time.Duration) {
	switch {
	case w.live == nil || w.Serving:
	case took == 0:
		w.live.end()
	case took >= slow:
		w.live.draw(fmt.Sprintf("highwater %s: working for %s", w.What, elapsed(took)))
	}
}

func (w *Watchman) look() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Most > 0 && usedMemory() > w.Most {
		return w.refuse("more memory than it may, "+units.Size(w.Most), "--max-memory 4GiB allows more")
	}
	if w.Long > 0 && w.busy > 0 && usedTime()-w.began > w.Long {
		return w.refuse("more time than it may, "+units.Duration(w.Long)+" of a processor", "--max-time 5m allows more")
	}
	return nil
}

func (w *Watchman) refuse(why, hint string) error {
	return &ExitError{Code: ExitFailed, Err: fmt.Errorf("%s needs %s: what it reads is very large, or was made to do harm", w.What, why), Hint: hint}
}

func (w *Watchman) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy++; w.busy == 1 {
		w.began = usedTime()
	}
}

func (w *Watchman) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
}

// around counts a server's requests.
func (w *Watchman) around(h http.Handler) http.Handler {
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
