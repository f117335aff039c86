// Proxyline is a service of lines behind a proxy, which names its clients with the PROXY protocol.
// Some reach it past the proxy and begin such a line without an end. It keeps the lines, 25 MiB.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	proxyproto "github.com/pires/go-proxyproto"
)

type lines struct {
	mu   sync.Mutex
	text [25_000]string
	next int
}

func newLines() *lines {
	l := &lines{}
	for i := range l.text {
		l.text[i] = strings.Repeat("l", 1000)
	}
	return l
}

// serve answers each line of a client with an older one.
func (l *lines) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		l.mu.Lock()
		l.next = (l.next + 1) % len(l.text)
		old := l.text[l.next]
		l.text[l.next] = string(line)
		l.mu.Unlock()
		if _, err := fmt.Fprintln(conn, old); err != nil {
			return
		}
	}
}

// honest is a client that the proxy brings.
func honest(addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprint(conn, "PROXY TCP4 127.0.0.2 127.0.0.1 4000 80\r\n")
	in := bufio.NewReader(conn)
	for range 5 {
		fmt.Fprintln(conn, strings.Repeat("m", 1000))
		if _, err := in.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

// endless is a client that begins a line of so many MiB.
func endless(addr string, mib int) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprint(conn, "PROXY ")
	part := bytes.Repeat([]byte("x"), 1<<20)
	for range mib {
		if _, err := conn.Write(part); err != nil {
			return nil // it was told to go
		}
	}
	return nil
}

// calm is how long nothing bad comes at first.
const calm = 6 * time.Second

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	l, text := &proxyproto.Listener{Listener: tcp}, newLines()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go text.serve(conn)
		}
	}()
	end := time.Now().Add(*last)
	var clients sync.WaitGroup
	repeat := func(one func() error, every time.Duration) {
		for time.Now().Before(end) {
			if err := one(); err != nil {
				log.Print(err)
				return
			}
			time.Sleep(every)
		}
	}
	clients.Go(func() { repeat(func() error { return honest(tcp.Addr().String()) }, 5*time.Millisecond) })
	for range 2 {
		clients.Go(func() {
			time.Sleep(calm)
			repeat(func() error { return endless(tcp.Addr().String(), 30) }, 900*time.Millisecond)
		})
	}
	clients.Wait()
}
