package pull

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Collection is one line of GODEBUG=gctrace=1 (runtime/mgc.go, gcMarkTermination;
// the form is that of Go 1.19 and later, the same up to 1.27):
//
//	gc 4 @0.164s 1%: 0.078+4.6+0.006 ms clock, 0.15+0.41/1.0/0.23+0.013 ms cpu, 3->4->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)
//
// Amounts are whole MiB, cut. Stacks and Globals are absent in lines of Go 1.17
// and older.
type Collection struct {
	N     uint32        // runtime.MemStats.NumGC
	Start time.Duration // since the program's start
	Share float64       // of the CPU time of all Ps since the program's start that collections took, 0 to 1

	SweepTermination, Mark, MarkTermination time.Duration // wall; the program stands still in the first and the last
	Assist, Dedicated, Idle                 time.Duration // CPU time of the mark, as the runtime books it
	HeapAtStart, HeapAtEnd, Live, Goal      sample.Bytes
	Stacks, Globals                         sample.Opt[sample.Bytes] // scanned, not in use
	Procs                                   int
	Forced                                  bool
}

// End is when the collection ended, since the program's start.
func (c Collection) End() time.Duration {
	return c.Start + c.SweepTermination + c.Mark + c.MarkTermination
}

// ParseCollection finds a collection in a line of output. What stands before it
// is the prefix that a logger put there. ok is false for other lines; torn says
// that such a line began and was mixed with other output.
func ParseCollection(line string) (prefix string, c Collection, torn, ok bool) {
	at := startOf(line)
	if at < 0 {
		return "", c, false, false
	}
	p := parser{rest: line[at:]}
	c.read(&p)
	return line[:at], c, p.bad, !p.bad
}

// startOf is where "gc N @" begins, at the line's start or behind something that
// is no part of a word; -1 if it does not.
func startOf(line string) int {
	for from := 0; ; {
		i := strings.Index(line[from:], "gc ")
		if i < 0 {
			return -1
		}
		i += from
		from = i + 3
		digits := strings.TrimLeft(line[from:], "0123456789")
		if (i == 0 || !isWord(line[i-1])) && len(digits) < len(line[from:]) && strings.HasPrefix(digits, " @") {
			return i
		}
	}
}

func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

func (c *Collection) read(p *parser) {
	p.text("gc ")
	c.N = uint32(p.whole(math.MaxUint32))
	p.text(" @")
	c.Start = p.time(time.Second)
	p.text("s ")
	c.Share = float64(p.whole(100)) / 100
	p.text("%: ")
	c.SweepTermination = p.time(time.Millisecond)
	p.text("+")
	c.Mark = p.time(time.Millisecond)
	p.text("+")
	c.MarkTermination = p.time(time.Millisecond)
	p.text(" ms clock, ")
	c.readCPU(p)
	c.HeapAtStart = p.size()
	p.text("->")
	c.HeapAtEnd = p.size()
	p.text("->")
	c.Live = p.size()
	p.text(" MB, ")
	c.Goal = p.size()
	p.text(" MB goal, ")
	c.readScanned(p)
	c.Procs = int(p.whole(1 << 20))
	p.text(" P")
	c.Forced = strings.HasPrefix(p.rest, " (forced)")
}

// readCPU reads five times, of which the first and the last are the wall times
// again, once for each P.
func (c *Collection) readCPU(p *parser) {
	p.time(time.Millisecond)
	for _, part := range []struct {
		before string
		to     *time.Duration
	}{{"+", &c.Assist}, {"/", &c.Dedicated}, {"/", &c.Idle}} {
		p.text(part.before)
		*part.to = p.time(time.Millisecond)
	}
	p.text("+")
	p.time(time.Millisecond)
	p.text(" ms cpu, ")
}

// readScanned reads what Go 1.18 added.
func (c *Collection) readScanned(p *parser) {
	if !strings.Contains(p.rest, " MB stacks, ") {
		return
	}
	c.Stacks = sample.Some(p.size())
	p.text(" MB stacks, ")
	c.Globals = sample.Some(p.size())
	p.text(" MB globals, ")
}

// parser reads a line from left to right and remembers that something was not
// as it must be.
type parser struct {
	rest string
	bad  bool
}

func (p *parser) text(want string) {
	rest, ok := strings.CutPrefix(p.rest, want)
	p.rest, p.bad = rest, p.bad || !ok
}

// digits takes the longest start that has only digits and, if asked for, points.
func (p *parser) digits(with string) string {
	n := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"+with))
	text := p.rest[:n]
	p.rest = p.rest[n:]
	return text
}

func (p *parser) whole(most uint64) uint64 {
	v, err := strconv.ParseUint(p.digits(""), 10, 64)
	p.bad = p.bad || err != nil || v > most
	return v
}

// size is a number of MiB below an exabyte.
func (p *parser) size() sample.Bytes { return sample.Bytes(p.whole(1<<40)) * sample.MiB }

// time is a number with a fraction, of less than a century.
func (p *parser) time(unit time.Duration) time.Duration {
	v, err := strconv.ParseFloat(p.digits("."), 64)
	if err != nil || v*unit.Seconds() > 100*365*24*3600 {
		p.bad = true
		return 0
	}
	return time.Duration(math.Round(v * float64(unit)))
}
