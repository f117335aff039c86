// H2reset is a report server on HTTP/2 without TLS, for a proxy in front of it. At most 20 streams
// may run at once. One client opens streams and resets them at once. The server keeps 25 MiB of
// figures.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

type figures struct{ years [26][128 << 10]float64 }

func newFigures() *figures {
	f := &figures{}
	for y := range f.years {
		for i := range f.years[y] {
			f.years[y][i] = float64(i)
		}
	}
	return f
}

// ServeHTTP makes a report of 48 KiB after a query that takes 4 s.
func (f *figures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	report := make([]byte, 0, 48<<10)
	for i := range 6000 {
		report = binary.LittleEndian.AppendUint64(report, math.Float64bits(f.years[i%26][i]))
	}
	time.Sleep(4 * time.Second)
	w.Write(report)
}

func serve(l net.Listener, h http.Handler) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go (&http2.Server{MaxConcurrentStreams: 20}).ServeConn(conn, &http2.ServeConnOpts{Handler: h})
	}
}

func requestHeaders() []byte {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	e.SetMaxDynamicTableSize(0)
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "reports"}, {":path", "/"}} {
		e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	return block.Bytes()
}

// resets opens streams on one connection and resets each, until the server hangs up.
func resets(addr string, end time.Time) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	go io.Copy(io.Discard, conn)
	io.WriteString(conn, http2.ClientPreface)
	f, block := http2.NewFramer(conn, conn), requestHeaders()
	if err := f.WriteSettings(); err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for id := uint32(1); time.Now().Before(end); id += 2 {
		<-tick.C
		h := http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndStream: true, EndHeaders: true}
		if err := f.WriteHeaders(h); err != nil {
			return err
		}
		if err := f.WriteRSTStream(id, http2.ErrCodeCancel); err != nil {
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
	go serve(l, newFigures())
	for end := time.Now().Add(*last); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := resets(l.Addr().String(), end); err != nil {
			log.Print(err)
		}
	}
}
