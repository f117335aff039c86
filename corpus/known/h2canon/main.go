// H2canon is a weather server on HTTP/2 without TLS, for a proxy in front of it. Every second or
// so another client connects, stays, and sends requests with very long header names. The server
// keeps 25 MiB of forecasts.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

type forecast struct {
	place string
	hours [48]float32
}

type weather struct{ places map[string]*forecast }

func newWeather() *weather {
	w := &weather{places: map[string]*forecast{}}
	for i := range 80_000 {
		name := fmt.Sprintf("/place/%d", i)
		w.places[name] = &forecast{place: name}
	}
	return w
}

func (s *weather) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := s.places[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	fmt.Fprintln(w, f.place, f.hours[:12])
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

// client is one connection that stays open.
type client struct {
	conn   net.Conn
	framer *http2.Framer
	stream uint32
}

func dial(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	go io.Copy(io.Discard, conn)
	io.WriteString(conn, http2.ClientPreface)
	c := &client{conn: conn, framer: http2.NewFramer(conn, conn), stream: 1}
	return c, c.framer.WriteSettings()
}

// ask sends one request with a header whose name is size bytes long.
func (c *client) ask(n, size int) error {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	e.SetMaxDynamicTableSize(0)
	name := fmt.Sprintf("x-%d-%s", n, strings.Repeat("a", size))
	for _, f := range [][2]string{
		{":method", "GET"}, {":scheme", "http"}, {":authority", "w"}, {":path", fmt.Sprintf("/place/%d", n)}, {name, "1"},
	} {
		e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	rest, first := block.Bytes(), true
	for len(rest) > 0 {
		part := rest[:min(len(rest), 16<<10)]
		rest = rest[len(part):]
		if err := c.write(part, first, len(rest) == 0); err != nil {
			return err
		}
		first = false
	}
	c.stream += 2
	return nil
}

func (c *client) write(part []byte, first, last bool) error {
	if !first {
		return c.framer.WriteContinuation(c.stream, last, part)
	}
	return c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: c.stream, BlockFragment: part, EndStream: true, EndHeaders: last,
	})
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go serve(l, newWeather())
	var open []*client
	for end, n := time.Now().Add(*last), 0; time.Now().Before(end); n++ {
		if n%25 == 0 {
			c, err := dial(l.Addr().String())
			if err != nil {
				log.Fatal(err)
			}
			open = append(open, c)
		}
		if err := open[len(open)-1].ask(n, 150_000); err != nil {
			log.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond)
	}
}
