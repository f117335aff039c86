// Rardict takes archives of notes as RAR and keeps the notes, 25 MiB. Some archives ask for a
// dictionary of 128 MiB for a file of a few bytes.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"hash/crc32"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/nwaples/rardecode/v2"
)

type notes struct {
	mu   sync.Mutex
	text [25_000]string
	next int
}

func newNotes() *notes {
	n := &notes{}
	for i := range n.text {
		n.text[i] = strings.Repeat("n", 1000)
	}
	return n
}

func (n *notes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := n.unpack(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// unpack takes every file of an archive as a note.
func (n *notes) unpack(archive io.Reader) error {
	files, err := rardecode.NewReader(archive)
	if err != nil {
		return err
	}
	for {
		_, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := io.ReadAll(io.LimitReader(files, 4000))
		if err != nil {
			return err
		}
		n.mu.Lock()
		n.next = (n.next + 1) % len(n.text)
		n.text[n.next] = string(text)
		n.mu.Unlock()
	}
}

// archive has one file. A method of 0 stores it; the dictionary is 128 KiB shifted left.
func archive(text string, method, dictionary uint64) []byte {
	out := []byte("Rar!\x1a\x07\x01\x00")
	out = header(out, []byte{1, 0, 0})
	file := []byte{2, 2} // a file, with data
	file = binary.AppendUvarint(file, uint64(len(text)))
	file = append(file, 0) // no flags
	file = binary.AppendUvarint(file, uint64(len(text)))
	file = append(file, 0) // no attributes
	file = binary.AppendUvarint(file, method<<7|dictionary<<10)
	file = append(file, 1, 8)
	out = header(out, append(file, "note.txt"...))
	out = append(out, text...)
	return header(out, []byte{5, 0, 0})
}

// header adds a block's header with its size and sum.
func header(out, content []byte) []byte {
	sized := append(binary.AppendUvarint(nil, uint64(len(content))), content...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(sized))
	return append(out, sized...)
}

func send(url string, file []byte, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Post(url, "application/vnd.rar", bytes.NewReader(file))
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
	n := newNotes()
	if err := n.unpack(bytes.NewReader(archive("a note", 0, 0))); err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, n)
	url, end := "http://"+l.Addr().String(), time.Now().Add(*last)
	var clients sync.WaitGroup
	clients.Go(func() { send(url, archive(strings.Repeat("m", 1000), 0, 0), 5*time.Millisecond, end) })
	for i := range 2 {
		clients.Go(func() {
			time.Sleep(calm)
			send(url, archive(strings.Repeat("x", 100), 1, 10), time.Duration(400+150*i)*time.Millisecond, end)
		})
	}
	clients.Wait()
}
