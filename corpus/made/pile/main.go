// Pile starts a goroutine for every job; each waits for something that does not
// come, by -wait, and keeps its buffer. Repaired, what it waits for comes.
package main

import (
	"flag"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	wait := flag.String("wait", "send", "send, receive, mutex, net or select")
	f := frame.Parse()
	job, ok := map[string]func(size int, repaired bool){
		"send": send, "receive": receive, "mutex": lock, "net": newPeer().read, "select": selects,
	}[*wait]
	if !ok {
		log.Fatalf("no wait %q", *wait)
	}
	f.Each(func(int) { job(f.Unit, f.Repaired) })
	f.Stay()
}

func newBuffer(size int) []byte {
	return frame.Touch(make([]byte, size)) // truth: send, receive, mutex, net, select
}

// send answers after its asker has given up. Repaired, there is room for an answer.
func send(size int, repaired bool) {
	room := 0
	if repaired {
		room = 1
	}
	answer := make(chan []byte, room)
	go func() { // truth: send
		answer <- newBuffer(size) // truth: send
	}()
}

// receive waits for work on a channel that nobody closes.
func receive(size int, repaired bool) {
	work := make(chan int)
	go func() { // truth: receive
		b := newBuffer(size)  // truth: receive
		for n := range work { // truth: receive
			b[n] = 1
		}
	}()
	if repaired {
		close(work)
	}
}

var ledger sync.Mutex

// lock leaves the ledger locked on one path, so that all others wait.
func lock(size int, repaired bool) {
	go func() { // truth: mutex
		b := newBuffer(size) // truth: mutex
		ledger.Lock()        // truth: mutex
		if repaired {
			defer ledger.Unlock()
		}
		b[0]++
	}()
}

// selects waits for a result or an end, and neither comes.
func selects(size int, repaired bool) {
	result, end := make(chan int), make(chan struct{})
	go func() { // truth: select
		b := newBuffer(size) // truth: select
		select {             // truth: select
		case n := <-result: // truth: select
			b[n] = 1
		case <-end: // truth: select
		}
		b[0]++
	}()
	if repaired {
		close(end)
	}
}

// peer is a server that accepts and says nothing.
type peer struct{ listener net.Listener }

func newPeer() *peer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	p := &peer{l}
	go p.accept()
	return p
}

func (p *peer) accept() {
	var silent []net.Conn
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		silent = append(silent, c) //lint:ignore SA4010 they are kept so that nobody closes them
	}
}

// read asks the peer, without a deadline. Repaired, there is one.
func (p *peer) read(size int, repaired bool) {
	c, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	if repaired {
		c.SetDeadline(time.Now().Add(50 * time.Millisecond))
	}
	go func() { // truth: net
		defer c.Close()
		io.ReadFull(c, newBuffer(size)) // truth: net
	}()
}
