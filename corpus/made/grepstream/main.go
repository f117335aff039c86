// Grepstream looks for the first line of a log that a rule wants. Lines come over a channel
// from a goroutine that splits the log, and who asked goes when the line is found: the
// goroutine waits for ever to hand over the next one. Repaired, it also looks at the
// context, which is cancelled then.
package main

import (
	"bytes"
	"context"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// source gives logs of size bytes.
type source interface{ fetch(i int) []byte }

type archive struct {
	size  int
	rules [][]byte // 16 MiB
}

func (a *archive) fetch(i int) []byte {
	log := make([]byte, 0, a.size) // truth: allocates
	for n := 0; len(log)+64 <= a.size; n++ {
		log = append(log, "2026-01-01T00:00:00Z info served a request in 12 ms, all is well\n"[:64]...)
		if n == i%7 {
			log = append(log[:len(log)-6], "ERROR\n"...)
		}
	}
	return log
}

func lines(ctx context.Context, log []byte) <-chan []byte {
	out := make(chan []byte)
	go func() { // truth: starts
		defer close(out)
		for len(log) > 0 {
			line, rest, _ := bytes.Cut(log, []byte("\n"))
			select { // truth: waits
			case out <- line:
			case <-ctx.Done():
				return
			}
			log = rest
		}
	}()
	return out
}

type searcher struct {
	from   source
	cancel bool
}

func (s *searcher) first(i int, want []byte) int {
	ctx := context.Background()
	if s.cancel {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
	}
	n := 0
	for line := range lines(ctx, s.from.fetch(i)) {
		if bytes.HasSuffix(line, want) {
			return n
		}
		n++
	}
	return -1
}

func main() {
	f := frame.Parse()
	a := &archive{size: f.Unit}
	for range 16 << 6 {
		a.rules = append(a.rules, frame.Touch(make([]byte, 16<<10)))
	}
	s := &searcher{from: a, cancel: f.Repaired}
	found := 0
	f.Each(func(i int) { found += s.first(i, []byte("ERROR")) })
	f.Stay()
}
