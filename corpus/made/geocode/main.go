// Geocode reads the addresses of a country once, and gives a file of parcels the places that
// they go to. It grows while it reads, which is its work, and ends. No fault, and it has no
// faulty form.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type address struct {
	street   string
	north    float64
	east     float64
	postcode int32
	next     *address // of the same street
}

type gazetteer struct {
	byStreet map[string]*address
	count    int
}

// read takes one page of the file of addresses.
func (g *gazetteer) read(page io.Reader) error {
	lines := bufio.NewScanner(page)
	for lines.Scan() {
		a := &address{}
		street, rest, ok := strings.Cut(lines.Text(), "|")
		if !ok {
			return fmt.Errorf("line %q has no street", lines.Text())
		}
		if _, err := fmt.Sscanf(rest, "%d|%f|%f", &a.postcode, &a.north, &a.east); err != nil {
			return err
		}
		a.street = strings.Clone(street)
		a.next = g.byStreet[a.street]
		g.byStreet[a.street] = a
		g.count++
	}
	return lines.Err()
}

// page writes addresses of size bytes in memory.
func page(i, size int) string {
	var b strings.Builder
	for n := range max(size/200, 1) {
		fmt.Fprintf(&b, "a street of some name, %06d-%03d|%05d|51.%04d|7.%04d\n", i, n/2, 10000+i%80000, n, i%10000)
	}
	return b.String()
}

func (g *gazetteer) find(street string, number int) (*address, bool) {
	a := g.byStreet[street]
	for ; a != nil && number > 0; number-- {
		if a.next == nil {
			break
		}
		a = a.next
	}
	return a, a != nil
}

func main() {
	f := frame.Parse()
	g := &gazetteer{byStreet: map[string]*address{}}
	pages := 0
	f.EachAtWork(func(i int) {
		if err := g.read(strings.NewReader(page(i, f.Unit))); err != nil {
			log.Fatal(err)
		}
		pages++
	})
	out := bufio.NewWriter(io.Discard)
	for i := range pages {
		if a, ok := g.find(fmt.Sprintf("a street of some name, %06d-%03d", i, 0), i%2); ok {
			fmt.Fprintf(out, "parcel %d: %f %f\n", i, a.north, a.east)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d addresses", g.count)
}
