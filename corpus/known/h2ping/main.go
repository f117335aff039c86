// H2ping is a small HTTP/2 server without TLS that counts what it is asked for. One client sends
// PING frames and does not read the answers. The server keeps 25 MiB of counters.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

type counters struct {
	mu   sync.Mutex
	rows [200][16 << 10]int64
}

func (c *counters) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	row := &c.rows[len(r.URL.Path)%len(c.rows)]
	row[time.Now().Second()]++
	fmt.Fprintln(w, row[0])
}

func (c *counters) fill() {
	for r := range c.rows {
		for i := range c.rows[r] {
			c.rows[r][i] = int64(i)
		}
	}
}

func serve(l net.Listener, h http.Handler) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go (&http2.Server{}).ServeConn(conn, &http2.ServeConnOpts{Handler: h})
	}
}

// pings sends 120 PING frames a millisecond until the time is over or the server hangs up.
func pings(addr string, end time.Time) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	var many bytes.Buffer
	io.WriteString(&many, http2.ClientPreface)
	f := http2.NewFramer(&many, nil)
	if err := f.WriteSettings(); err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(end) {
		<-tick.C
		for range 120 {
			if err := f.WritePing(false, [8]byte{1}); err != nil {
				return err
			}
		}
		if _, err := many.WriteTo(conn); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	c := &counters{}
	c.fill()
	go serve(l, c)
	for end := time.Now().Add(*last); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := pings(l.Addr().String(), end); err != nil {
			log.Print(err)
		}
	}
}
