// Intern reads events of a shop and counts them by what they say. It keeps each text that it
// has seen once, so that the same one need not be in memory a thousand times; that is good
// for countries and browsers, and was also done for the field that has a different text each
// time. Repaired, that field is not looked up.
package main

import (
	"encoding/binary"
	"hash/maphash"
	"log"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// texts gives the same string for the same bytes.
type texts struct {
	table map[string]string
	hits  int
}

func (t *texts) of(b []byte) string {
	if s, ok := t.table[string(b)]; ok {
		t.hits++
		return s
	}
	s := string(b) // truth: allocates
	t.table[s] = s // truth: keeps
	return s
}

type event struct {
	country, browser, payload string
}

type decoder struct {
	texts   texts
	skip    bool // the payload
	scratch []byte
}

var countries = []string{"de", "fr", "it", "es", "pl", "nl"}
var browsers = []string{"firefox 128", "chrome 131", "safari 17"}

// encode writes an event as it comes over the line: fields with their length before them.
func encode(to []byte, i, size int) []byte {
	for _, field := range []string{countries[i%6], browsers[i%3]} {
		to = binary.AppendUvarint(to, uint64(len(field)))
		to = append(to, field...)
	}
	to = binary.AppendUvarint(to, uint64(size))
	start := len(to)
	for len(to)-start < size {
		to = binary.BigEndian.AppendUint64(to, uint64(i)*2654435761+uint64(len(to)))
	}
	return to[:start+size]
}

func field(from []byte) (value, rest []byte) {
	n, w := binary.Uvarint(from)
	return from[w : w+int(n)], from[w+int(n):]
}

func (d *decoder) decode(line []byte) (e event) {
	country, line := field(line)
	browser, line := field(line)
	payload, _ := field(line)
	e.country, e.browser = d.texts.of(country), d.texts.of(browser)
	if d.skip {
		e.payload = string(payload)
	} else {
		e.payload = d.texts.of(payload) // truth: asks
	}
	return e
}

// totals is what is counted, 15 MiB of hours from the start.
type totals struct {
	byHour map[int]map[string]int
	seed   maphash.Seed
	sums   [1024]uint64
}

func newTotals() *totals {
	t := &totals{byHour: map[int]map[string]int{}, seed: maphash.MakeSeed()}
	for hour := range 3000 {
		t.byHour[hour] = map[string]int{}
		for c := range 100 {
			t.byHour[hour][strings.Repeat(countries[c%6], c/6+1)] = c
		}
	}
	return t
}

func (t *totals) add(i int, e event) {
	t.byHour[i%len(t.byHour)][e.country]++
	h := maphash.String(t.seed, e.payload[:min(len(e.payload), 64)])
	t.sums[h%1024]++
}

func main() {
	f := frame.Parse()
	d, t := &decoder{texts: texts{table: map[string]string{}}, skip: f.Repaired}, newTotals()
	f.Each(func(i int) {
		d.scratch = encode(d.scratch[:0], i, f.Unit)
		t.add(i, d.decode(d.scratch))
	})
	f.Stay()
	log.Printf("%d texts, %d found again", len(d.texts.table), d.texts.hits)
}
