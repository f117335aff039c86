// Pipefeed checks what suppliers send: one goroutine writes a delivery's lines into a pipe,
// as they are fetched, and the check reads them. It stops at the first line that is wrong, and leaves the
// pipe as it is: who writes to it waits for a reader for ever. Repaired, the check closes its
// end.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type line struct {
	Article string `json:"article"`
	Pieces  int    `json:"pieces"`
}

type delivery struct {
	supplier int
	lines    int
	wrong    int // line; -1: none
	size     int
}

var errLine = errors.New("fewer than no pieces")

type intake struct {
	closes   bool
	articles map[string]*article // 19 MiB
	refused  int
}

type article struct {
	sold [52]int64
	shop [16]string
}

func newIntake(closes bool) *intake {
	in := &intake{closes: closes, articles: map[string]*article{}}
	for i := range 26_000 {
		a := &article{shop: [16]string{"north", "south", "east"}}
		for n := range a.sold {
			a.sold[n] = int64(i + n)
		}
		in.articles[fmt.Sprint("a", i)] = a
	}
	return in
}

// send writes a delivery as it is fetched.
func send(d delivery, to *io.PipeWriter) {
	page := frame.Touch(make([]byte, d.size)) // truth: allocates
	out := bufio.NewWriterSize(to, 512)
	for n := range d.lines {
		l := line{fmt.Sprint("a", (d.supplier*31+n)%26_000), n % 7}
		if n == d.wrong {
			l.Pieces = -1
		}
		text, err := json.Marshal(l)
		if err != nil {
			to.CloseWithError(err)
			return
		}
		copy(page[n*32%(len(page)-512):], text)
		if _, err := out.Write(append(text, '\n')); err != nil { // truth: waits
			return
		}
	}
	out.Flush() // truth: waits
	to.Close()
}

func (in *intake) check(d delivery) error {
	from, to := io.Pipe()
	go send(d, to) // truth: starts
	if in.closes {
		defer from.Close()
	}
	lines := json.NewDecoder(from)
	for {
		var l line
		err := lines.Decode(&l)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if a := in.articles[l.Article]; a == nil || l.Pieces < 0 {
			return fmt.Errorf("supplier %d: %w", d.supplier, errLine) // truth: returns
		} else {
			a.sold[0] += int64(l.Pieces)
		}
	}
}

func main() {
	f := frame.Parse()
	in := newIntake(f.Repaired)
	passed := 0
	f.Each(func(i int) {
		if err := in.check(delivery{supplier: i, lines: 200, wrong: 20, size: f.Unit}); err != nil {
			in.refused++
		}
		if i%10 == 0 {
			if err := in.check(delivery{supplier: i, lines: 60, wrong: -1, size: f.Unit}); err != nil {
				log.Fatal(err)
			}
			passed++
		}
	})
	f.Stay()
	log.Printf("%d refused, %d passed", in.refused, passed)
}
