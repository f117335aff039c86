// Package frame is what the programs of the corpus share: the flags that say how
// fast, how much and for how long, a clock that paces the work, and something
// innocent and sizeable in the background. It allocates nothing that is a fault:
// what is to blame stands in each program's own main.go.
package frame

import (
	"context"
	"flag"
	"hash/crc32"
	"log"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// Done is the line that a program prints when all is made.
const Done = "all is made"

// Frame is how a program is to run.
type Frame struct {
	Rate       int64 // bytes a second; 0: as fast as it goes
	Unit       int   // bytes of one piece of work
	Total      int64 // bytes after which no more is made; 0: no end
	For        time.Duration
	Repaired   bool
	Client     bool   // be the load of the program that serves at Address
	Address    string // of a server, HOST:PORT
	Background string // "none", "cache", "json" or "pagecache"

	start time.Time
	ended <-chan struct{} // closed by the first signal that asks for the end
}

// Parse reads the command line, with the flags that the program has defined
// itself, and starts the background. It ends the program where that fails.
func Parse() *Frame {
	asked, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	f := &Frame{start: time.Now(), ended: asked.Done()}
	flag.Int64Var(&f.Rate, "rate", 4<<20, "bytes a second, 0: no bound")
	flag.IntVar(&f.Unit, "unit", 16<<10, "bytes of one piece of work")
	flag.Int64Var(&f.Total, "total", 64<<20, "bytes after which no more is made, 0: no end")
	flag.DurationVar(&f.For, "for", 8*time.Second, "how long to run, 0: until a signal comes")
	flag.BoolVar(&f.Repaired, "repaired", false, "run without the fault")
	flag.BoolVar(&f.Client, "client", false, "be the load of the server at -addr")
	flag.StringVar(&f.Address, "addr", "127.0.0.1:18099", "loopback address to serve at")
	flag.StringVar(&f.Background, "background", "none", "none, cache, json or pagecache")
	flag.Parse()
	log.SetFlags(0)
	if !f.Client {
		f.startBackground()
	}
	return f
}

// Count is how many pieces Total has.
func (f *Frame) Count() int { return int(f.Total / int64(f.Unit)) }

// Each calls do for one piece after another, each when it is due, until Total is
// made or the time is over.
func (f *Frame) Each(do func(i int)) {
	for t := f.Turns(); t.Next(); {
		do(t.done - 1)
	}
}

// EachAtWork is Each for a job: it does not wait until the next piece is due, it works until
// then, as a program does that reads, parses and computes what it was given.
func (f *Frame) EachAtWork(do func(i int)) {
	for t := f.Turns(); ; {
		for due := t.began.Add(f.due(t.done)); time.Until(due) > 0 && !f.Over(); {
			compute()
		}
		if !t.Next() {
			return
		}
		do(t.done - 1)
	}
}

// computed keeps what compute does from being left out.
var computed atomic.Uint32

// compute takes about a tenth of a millisecond and allocates nothing.
func compute() { computed.Store(crc32.ChecksumIEEE(input[:])) }

var input [1 << 20]byte

// Turns is the clock of Each, for a program that has the loop itself.
type Turns struct {
	f     *Frame
	began time.Time
	done  int
}

// Turns begins a clock.
func (f *Frame) Turns() *Turns { return &Turns{f: f, began: time.Now()} }

// Next waits until the next piece is due. It is false where there is none.
func (t *Turns) Next() bool {
	if t.f.Total > 0 && int64(t.done)*int64(t.f.Unit) >= t.f.Total || !t.f.waitUntil(t.began.Add(t.f.due(t.done))) {
		return false
	}
	t.done++
	return true
}

// due is when piece i is due, counted from the first.
func (f *Frame) due(i int) time.Duration {
	if f.Rate <= 0 {
		return 0
	}
	return time.Duration(float64(i) * float64(f.Unit) / float64(f.Rate) * float64(time.Second))
}

// waitUntil is false where the program is to end before t. What is due less than
// a millisecond from now is due.
func (f *Frame) waitUntil(t time.Time) bool {
	wait := time.Until(t)
	if f.For > 0 {
		wait = min(wait, f.left())
	}
	if wait < time.Millisecond {
		select {
		case <-f.ended:
			return false
		default:
			return f.For == 0 || f.left() > 0
		}
	}
	select {
	case <-f.ended:
		return false
	case <-time.After(wait):
		return f.For == 0 || f.left() > 0
	}
}

func (f *Frame) left() time.Duration { return f.For - time.Since(f.start) }

// Stay waits until the program is to end. It says on the standard error that the
// work is done, for who waits for that.
func (f *Frame) Stay() {
	log.Print(Done)
	for f.waitUntil(time.Now().Add(50 * time.Millisecond)) {
	}
}

// Over says that the program is to end.
func (f *Frame) Over() bool { return !f.waitUntil(time.Now()) }

// Touch writes to every page of b, and gives it back.
func Touch(b []byte) []byte {
	for i := 0; i < len(b); i += 512 {
		b[i] = byte(i>>9) | 1
	}
	return b
}
