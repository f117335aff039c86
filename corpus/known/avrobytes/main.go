// Avrobytes takes readings of 20,000 sensors as Avro and keeps the last picture of each, 30 MiB. Some
// senders put in a picture that is far larger than any sensor takes.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hamba/avro/v2"
)

const schema = `{"type":"record","name":"reading","fields":[
	{"name":"sensor","type":"long"},
	{"name":"picture","type":"bytes"}]}`

type reading struct {
	Sensor  int64  `avro:"sensor"`
	Picture []byte `avro:"picture"`
}

type collector struct {
	mu       sync.Mutex
	schema   avro.Schema
	pictures [20_000][]byte
}

func newCollector() *collector {
	c := &collector{schema: avro.MustParse(schema)}
	for i := range c.pictures {
		c.pictures[i] = bytes.Repeat([]byte{byte(i)}, 1500)
	}
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var one reading
	if err := avro.NewDecoderForSchema(c.schema, r.Body).Decode(&one); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if len(one.Picture) > 2000 {
		http.Error(w, "a sensor's picture has no more than 2000 bytes", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.pictures[int(one.Sensor)%len(c.pictures)] = one.Picture
	c.mu.Unlock()
}

// body is a reading with a picture of so many bytes.
func body(sensor int64, size int64) io.Reader {
	head := binary.AppendVarint(binary.AppendVarint(nil, sensor), size)
	return io.MultiReader(bytes.NewReader(head), io.LimitReader(grey{}, size))
}

// grey is a picture without an end.
type grey struct{}

func (grey) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0x80
	}
	return len(p), nil
}

func send(url string, size int64, every time.Duration, end time.Time) {
	for n := int64(0); time.Now().Before(end); n++ {
		resp, err := http.Post(url, "avro/binary", body(n%20_000, size))
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		time.Sleep(every)
	}
}

// calm is how long nothing bad comes at first.
const calm = 6 * time.Second

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, newCollector())
	url, end := "http://"+l.Addr().String(), time.Now().Add(*last)
	var senders sync.WaitGroup
	senders.Go(func() { send(url, 1500, 5*time.Millisecond, end) })
	for i := range 2 {
		senders.Go(func() {
			time.Sleep(calm)
			send(url, 70<<20, time.Duration(600+150*i)*time.Millisecond, end)
		})
	}
	senders.Wait()
}
