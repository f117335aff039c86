// Customerdups finds customers that are in a file twice: it reads all of them, puts those whose
// names sound alike together, compares each with the others there, writes the pairs and ends. It
// grows while it reads, which is its work. No fault, and it has no faulty form.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"sort"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type customer struct {
	number int
	name   string
	letter []byte // what he last wrote
}

var (
	names = []string{"Meier", "Maier", "Mayr", "Schmidt", "Schmitt", "Smith", "Becker", "Bäcker", "Huber", "Hauber"}
	sound = map[byte]byte{'b': '1', 'p': '1', 'f': '1', 'c': '2', 'k': '2', 's': '2', 'd': '3', 't': '3', 'l': '4', 'm': '5', 'n': '5', 'r': '6'}
)

// sounds gives a key that is the same for names that sound alike.
func sounds(name string) string {
	key := []byte{name[0]}
	for i := 1; i < len(name); i++ {
		if d := sound[name[i]]; d > 0 && d != key[len(key)-1] {
			key = append(key, d)
		}
	}
	return string(key)
}

func read(i, size int) *customer {
	letter := frame.Touch(make([]byte, size))
	copy(letter, fmt.Sprintf("letter %d", i*7919%5000))
	return &customer{i, fmt.Sprintf("%s of %d", names[i%len(names)], i%400), letter}
}

func main() {
	f := frame.Parse()
	alike := map[string][]*customer{}
	f.EachAtWork(func(i int) {
		c := read(i, f.Unit)
		key := sounds(c.name) + c.name[len(c.name)-2:]
		alike[key] = append(alike[key], c)
	})
	out := bufio.NewWriter(io.Discard)
	pairs := 0
	for key, some := range alike {
		sort.Slice(some, func(a, b int) bool { return bytes.Compare(some[a].letter, some[b].letter) < 0 })
		for i := 1; i < len(some); i++ {
			if bytes.Equal(some[i].letter[:32], some[i-1].letter[:32]) {
				fmt.Fprintf(out, "%s %d %d\n", key, some[i-1].number, some[i].number)
				pairs++
			}
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d pairs", pairs)
}
