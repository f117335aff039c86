// Command hoard keeps what it is told to, in a way whose holder is known, and says on
// standard output how much that is. Each line of standard input tells how many
// elements to add: "1000". At the end of its input it waits to be ended.
//
//	hoard map|goroutines|steady [N]
//
// With N it needs no input: it adds N elements over and over, without an end.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

type session struct {
	user string
	body []byte
}

// sessions is the fault: whoever comes is remembered for ever.
var sessions = make(map[string]*session)

// table is as large at the end as at the start.
var table [][]byte

func remember(number int) {
	user := fmt.Sprintf("user-%08d", number)
	sessions[user] = newSession(user)
}

func newSession(user string) *session {
	body := make([]byte, 1000)
	for i := range body {
		body[i] = 1
	}
	return &session{user, body}
}

var never = make(chan int)

// size is no constant, so that buffers lie on the heap.
var size = 8 << 10

// wait is a goroutine that nothing ends, with a buffer.
//
//go:noinline
func wait(ready chan<- bool) {
	buffer := make([]byte, size)
	for i := range buffer {
		buffer[i] = 1
	}
	ready <- true
	buffer[0] = byte(<-never)
	runtime.KeepAlive(buffer)
}

// scratch is garbage at once, so that there are collections.
var scratch []byte

var added int

func add(kind string, n int) {
	ready := make(chan bool)
	for i := 0; i < n; i++ {
		switch added++; kind {
		case "map":
			remember(added)
		case "goroutines":
			go wait(ready)
			<-ready
		}
	}
	fmt.Println("held", added)
}

func main() {
	for i := 0; i < 200; i++ {
		table = append(table, make([]byte, 4<<10))
	}
	kind := os.Args[1]
	if len(os.Args) > 2 {
		n, _ := strconv.Atoi(os.Args[2])
		for {
			add(kind, n)
			for i := 0; i < 4*n; i++ {
				scratch = make([]byte, 1000)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	fmt.Println("held", 0)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		n, _ := strconv.Atoi(lines.Text())
		add(kind, n)
	}
	time.Sleep(time.Hour)
}
