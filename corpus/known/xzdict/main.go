// Xzdict takes sensor logs that are packed with LZMA and counts their lines. Some uploads are a
// few hundred bytes whose header asks for a dictionary of 48 MiB. It keeps the sensors, 25 MiB.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ulikunitz/xz/lzma"
)

type sensor struct {
	name  string
	lines int
	days  [16]float64
}

type collector struct {
	mu      sync.Mutex
	sensors map[string]*sensor
}

func newCollector() *collector {
	c := &collector{sensors: map[string]*sensor{}}
	for i := range 100_000 {
		name := fmt.Sprintf("sensor-%d", i)
		c.sensors[name] = &sensor{name: name}
	}
	return c
}

// count unpacks a log and counts its lines.
func count(packed io.Reader) (int, error) {
	r, err := lzma.NewReader(bufio.NewReader(packed))
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
	}
	return n, lines.Err()
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := count(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.sensors[r.URL.Query().Get("sensor")]; ok {
		s.lines += n
	}
}

// pack compresses some lines and says in the header that they need a dictionary of the given size:
// bytes 1 to 4 of the classic LZMA header.
func pack(dictionary uint32) []byte {
	lines := bytes.Repeat([]byte("12:00 21.5 degrees\n"), 2000)
	var out bytes.Buffer
	w, err := lzma.WriterConfig{DictCap: 1 << 16, SizeInHeader: true, Size: int64(len(lines))}.NewWriter(&out)
	if err != nil {
		log.Fatal(err)
	}
	w.Write(lines)
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	binary.LittleEndian.PutUint32(out.Bytes()[1:], dictionary)
	return out.Bytes()
}

func upload(url string, body []byte, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Post(url, "application/x-lzma", bytes.NewReader(body))
		if err != nil {
			log.Print(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		time.Sleep(every)
	}
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, newCollector())
	end, url := time.Now().Add(*last), "http://"+l.Addr().String()+"/?sensor=sensor-7"
	small, large := pack(1<<16), pack(48<<20)
	var clients sync.WaitGroup
	clients.Go(func() { upload(url, small, 20*time.Millisecond, end) })
	for range 4 {
		clients.Go(func() { upload(url, large, 100*time.Millisecond, end) })
	}
	clients.Wait()
}
