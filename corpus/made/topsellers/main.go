// Topsellers prints the twenty articles that sold best, every few seconds from the sales of
// the day. It reads all of them, sorts them by article to sum them, sorts the sums, and takes
// twenty. Repaired, it adds each sale to its article's sum as it comes.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type sale struct {
	article string
	fields  []string
	cents   int64
}

type place struct {
	article string
	cents   int64
}

const articles = 3000

// sales gives the lines of a day, of n bytes.
func sales(n int) io.Reader {
	read, write := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(write, 64<<10)
		for i := 0; n > 0; i++ {
			c, err := fmt.Fprintf(w, "a%04d;%d;shop north, till %d;2026-01-01T10:00:00Z;paid by card, no receipt wanted\n", i*7919%articles, 100+i%900, i%12)
			if err != nil {
				return
			}
			n -= c
		}
		write.CloseWithError(w.Flush())
	}()
	return read
}

type board struct {
	stock [][]int64 // 17 MiB: how many are there, by article and shop
	shown int
}

func newBoard() *board {
	b := &board{}
	for i := range articles {
		row := make([]int64, 740)
		for n := range row {
			row[n] = int64(i*n + 1)
		}
		b.stock = append(b.stock, row)
	}
	return b
}

func parse(line string) (s sale, err error) {
	s.fields = strings.Split(line, ";") // truth: splits
	if len(s.fields) < 3 {
		return s, fmt.Errorf("line %q is short", line)
	}
	s.article = s.fields[0]
	_, err = fmt.Sscan(s.fields[1], &s.cents)
	return s, err
}

func (b *board) all(day io.Reader) ([]place, error) {
	var sold []sale
	lines := bufio.NewScanner(day)
	for lines.Scan() {
		s, err := parse(lines.Text()) // truth: reads
		if err != nil {
			return nil, err
		}
		sold = append(sold, s) // truth: grows
	}
	slices.SortFunc(sold, func(a, b sale) int { return strings.Compare(a.article, b.article) })
	var places []place
	for _, s := range sold {
		if n := len(places); n > 0 && places[n-1].article == s.article {
			places[n-1].cents += s.cents
		} else {
			places = append(places, place{s.article, s.cents})
		}
	}
	return b.best(places), lines.Err()
}

func (b *board) summed(day io.Reader) ([]place, error) {
	sums := map[string]int64{}
	lines := bufio.NewScanner(day)
	for lines.Scan() {
		s, err := parse(lines.Text())
		if err != nil {
			return nil, err
		}
		if _, there := sums[s.article]; !there {
			s.article = strings.Clone(s.article)
		}
		sums[s.article] += s.cents
	}
	var places []place
	for article, cents := range sums {
		places = append(places, place{article, cents})
	}
	return b.best(places), lines.Err()
}

func (b *board) best(places []place) []place {
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(b.cents, a.cents) })
	return slices.Clone(places[:min(20, len(places))])
}

// pause waits, and is false where the program is to end.
func pause(f *frame.Frame, long time.Duration) bool {
	for end := time.Now().Add(long); time.Now().Before(end) && !f.Over(); {
		time.Sleep(20 * time.Millisecond)
	}
	return !f.Over()
}

func main() {
	f := frame.Parse()
	b := newBoard()
	for long := 4 * time.Second; pause(f, long); long = 2 * time.Second {
		top := b.all
		if f.Repaired {
			top = b.summed
		}
		best, err := top(sales(int(f.Total / 2)))
		if err != nil {
			log.Fatal(err)
		}
		for n, p := range best {
			b.shown += int(b.stock[n][p.cents%740] & 1)
		}
	}
	f.Stay()
}
