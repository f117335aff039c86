// Subject is two programs to hold predictions against, with an amount of work that
// is fixed, however fast the machine is:
//
//	subject cache      a cache that fills slowly to about 120 MiB, and much garbage
//	subject inflate    compressed bodies of 5 to 50 MB, read whole, three at a time
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
)

func main() {
	programs := map[string]func(*rand.Rand){"cache": cache, "inflate": inflate}
	if len(os.Args) != 2 || programs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "subject: cache or inflate?")
		os.Exit(2)
	}
	programs[os.Args[1]](rand.New(rand.NewPCG(1, 2)))
}

// item is what the cache holds.
type item struct {
	Name  string
	Tags  []string
	Value []byte
}

const (
	places   = 60_000
	requests = 300_000
)

// cache answers requests: of what it has mostly, encoded anew each time.
func cache(rng *rand.Rand) {
	held := make(map[int]*item, places)
	answered := 0
	for n := range requests {
		key := int(rng.ExpFloat64() * places / 6)
		it := held[key%places]
		if it == nil {
			it = &item{Name: fmt.Sprint("item ", key), Tags: []string{"a", "b"}, Value: make([]byte, 500+rng.IntN(4000))}
			held[key%places] = it
		}
		text, err := json.Marshal(it)
		if err != nil {
			panic(err)
		}
		answered += len(text)
		if n%(requests/10) == 0 {
			fmt.Println(n, "requests,", len(held), "held")
		}
	}
	fmt.Println("ended,", answered, "bytes answered,", len(held), "held")
}

const (
	bodies = 60
	atOnce = 3
)

// inflate reads bodies whole and counts their lines, as a handler does that did not
// think of large ones.
func inflate(rng *rand.Rand) {
	var lanes sync.WaitGroup
	queue := make(chan []byte)
	for range atOnce {
		lanes.Go(func() {
			for packed := range queue {
				handle(packed)
			}
		})
	}
	for range bodies {
		queue <- pack(int64(5+rng.IntN(46)) * 1_000_000)
	}
	close(queue)
	lanes.Wait()
	fmt.Println("ended")
}

// pack makes a body of so many bytes, a few thousand when packed.
func pack(size int64) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.CopyN(w, lines{}, size); err != nil {
		panic(err)
	}
	w.Close()
	return b.Bytes()
}

// lines is text without an end.
type lines struct{}

func (lines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "a line of text\n"[i%15]
	}
	return len(p), nil
}

func handle(packed []byte) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	words := bytes.Fields(body[:min(len(body), 1_000_000)])
	fmt.Println(len(body), "bytes,", bytes.Count(body, []byte("\n")), "lines,", len(words), "words")
}
