// Tiffoffset takes scans as TIFF and keeps a small picture of each, 25 MiB. Some files say that their
// first directory is far behind their end.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"image"
	"image/color"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/image/tiff"
)

type scans struct {
	mu    sync.Mutex
	small [25_000][]byte
	next  int
}

func newScans() *scans {
	s := &scans{}
	for i := range s.small {
		s.small[i] = bytes.Repeat([]byte{byte(i)}, 1000)
	}
	return s
}

func (s *scans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scan, err := tiff.Decode(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	small := make([]byte, 1000)
	for i := range small {
		small[i] = color.GrayModel.Convert(scan.At(i%32, i/32)).(color.Gray).Y
	}
	s.mu.Lock()
	s.next = (s.next + 1) % len(s.small)
	s.small[s.next] = small
	s.mu.Unlock()
}

func good() []byte {
	var file bytes.Buffer
	if err := tiff.Encode(&file, image.NewGray(image.Rect(0, 0, 64, 64)), nil); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
}

// far is a file of 16 bytes whose directory is at the offset.
func far(offset uint32) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte("II*\x00"), offset), make([]byte, 8)...)
}

func send(url string, file []byte, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Post(url, "image/tiff", bytes.NewReader(file))
		if err != nil {
			log.Print(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
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
	go http.Serve(l, newScans())
	url, end := "http://"+l.Addr().String(), time.Now().Add(*last)
	var clients sync.WaitGroup
	clients.Go(func() { send(url, good(), 5*time.Millisecond, end) })
	for i := range 2 {
		clients.Go(func() {
			time.Sleep(calm)
			send(url, far(120<<20), time.Duration(300+100*i)*time.Millisecond, end)
		})
	}
	clients.Wait()
}
