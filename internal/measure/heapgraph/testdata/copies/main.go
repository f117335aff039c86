// Command copies holds strings of which it is known how many are copies of others, says
// so, and waits until standard input ends.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// A variable for each way in which a string can lie in the heap.
var (
	users  []string // each in a slot of its own
	codes  []string // several in one slot
	ids    []string // none like another
	texts  []string // long, and different at their ends alone
	keys   map[string]int
	boxed  []any
	shared []string // one string, many times
	bytes  [][]byte // which are no strings
	empty  []string
)

func fill(n, different int, text func(int) string) (all []string) {
	for i := 0; i < n; i++ {
		all = append(all, strings.Clone(text(i%different)))
	}
	return all
}

func main() {
	users = fill(1000, 40, func(i int) string { return fmt.Sprintf("user %019d", i) })
	codes = fill(900, 30, func(i int) string { return fmt.Sprintf("c%04d", i) })
	ids = fill(500, 500, func(i int) string { return fmt.Sprintf("id of something %024d", i) })
	texts = fill(20, 2, func(i int) string { return strings.Repeat("x", 99_999) + string(rune('a'+i)) })
	keys = make(map[string]int)
	for _, key := range fill(300, 300, func(i int) string { return fmt.Sprintf("key %020d", i) }) {
		keys[key] = 1
	}
	for _, s := range fill(100, 1, func(int) string { return "what an interface has" }) {
		boxed = append(boxed, s)
	}
	one := strings.Clone("what is there once, and held often")
	for i := 0; i < 50; i++ {
		shared = append(shared, one)
		texts = append(texts, texts[i%20][500:600+i]) // parts of those
		bytes = append(bytes, []byte("the same bytes in each of these"))
	}
	empty = make([]string, 100)
	runtime.GC()
	fmt.Println("{}")
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive([]any{users, codes, ids, texts, keys, boxed, shared, bytes, empty})
}
