// Bodies is a server that reads each body into memory before it looks at it; a
// load of slow clients sends eight at once. Repaired, it reads them in parts.
// With -client it is that load.
package main

import (
	"hash/crc32"
	"io"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

func main() {
	f := frame.Parse()
	if f.Client {
		load(f)
		return
	}
	http.HandleFunc("/upload", func(w http.ResponseWriter, r *http.Request) { upload(w, r, f.Repaired) })
	go func() { log.Fatal(http.ListenAndServe(f.Address, nil)) }()
	f.Total, f.Rate = 0, 0
	f.Stay()
}

func upload(w http.ResponseWriter, r *http.Request, repaired bool) {
	sum := crc32.NewIEEE()
	if repaired {
		io.Copy(sum, r.Body)
		return
	}
	body, err := io.ReadAll(r.Body) // truth: allocates
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sum.Write(body)
}

// load sends bodies of Unit bytes, eight at a time, until the time is over.
func load(f *frame.Frame) {
	var clients sync.WaitGroup
	for range 8 {
		clients.Add(1)
		go func() {
			defer clients.Done()
			for !f.Over() {
				send(f)
			}
		}()
	}
	clients.Wait()
}

func send(f *frame.Frame) {
	r, err := http.Post("http://"+f.Address+"/upload", "application/octet-stream", &slow{left: f.Unit, rate: f.Rate})
	if err != nil {
		time.Sleep(100 * time.Millisecond)
		return
	}
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
}

// slow is a body that comes at a rate.
type slow struct {
	left int
	rate int64
}

func (s *slow) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), s.left)
	s.left -= n
	if s.rate > 0 {
		time.Sleep(time.Duration(float64(n) / float64(s.rate) * float64(time.Second)))
	}
	return n, nil
}
