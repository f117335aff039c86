// Command reused has pointers of one type to memory of another, as a dead word of a stack has: what the word
// led to was freed, and the memory reused. The program says that it is ready, and waits until standard input
// ends.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"
)

// accept is what the memory was.
type accept struct {
	kind, subtype string
	weight        float64
	params        map[string]string
}

// conn is what it is now: its server lies where the text of kind lay.
type conn struct {
	server  *server
	number  int
	peer    *server
	waiting int
	weight  float64
	params  map[string]string
}

type server struct {
	next    *server
	routes  [4]*server
	renders []byte
}

// The wrong ones are found first and last.
var (
	before = make([]*accept, 100)
	conns  = make([]*conn, 100)
	after  = make([]*accept, 100)
)

func main() {
	for i := range conns {
		s := &server{renders: make([]byte, 1<<10)}
		s.next, s.routes[0] = s, s
		conns[i] = &conn{server: s, number: 10, params: map[string]string{"a": "b"}}
		before[i] = (*accept)(unsafe.Pointer(conns[i]))
		after[i] = before[i]
	}
	runtime.GC()
	fmt.Println("{}")
	_, _ = io.ReadAll(os.Stdin)
	fmt.Printf("%T %T %T\n", before, after, conns) // their types are in the executable, whatever release of Go makes it
}
