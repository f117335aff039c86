package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
)

const (
	folders     = 24
	downloaders = 3
	rounds      = 3  // of downloads
	lookups     = 40 // between two rounds, by each
)

// archives is an intranet's file server: it keeps documents, shows lists of them, and
// makes an archive of a folder in memory when one is downloaded.
func archives() error {
	s := &shelf{folders: make([][]document, folders)}
	rng := rand.New(rand.NewPCG(11, 12))
	for n := range s.folders {
		for range 4 + rng.IntN(14) {
			s.folders[n] = append(s.folders[n], newDocument(rng))
		}
	}
	server := httptest.NewServer(s)
	defer server.Close()
	for round := range rounds {
		if err := s.visited(server.URL, round); err != nil {
			return err
		}
		fmt.Println("round", round, "done")
	}
	return nil
}

// document is kept as its seed and length: its text is made when it is read.
type document struct {
	name string
	seed uint64
	size int
}

func newDocument(rng *rand.Rand) document {
	return document{fmt.Sprintf("document-%d.dat", rng.IntN(1e6)), rng.Uint64(), 200_000 + rng.IntN(2_000_000)}
}

// writeTo writes the document in pieces, as it would be read from a disk.
func (d document) writeTo(w io.Writer) error {
	rng, piece := rand.New(rand.NewPCG(d.seed, 1)), make([]byte, 32<<10)
	for left := d.size; left > 0; left -= len(piece) {
		piece = piece[:min(len(piece), left)]
		for i := 0; i+8 <= len(piece); i += 8 {
			binary.LittleEndian.PutUint64(piece[i:], rng.Uint64())
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

type shelf struct{ folders [][]document }

// ServeHTTP answers /list?folder=N and /archive?folder=N.
func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var n int
	if _, err := fmt.Sscan(r.FormValue("folder"), &n); err != nil || n < 0 || n >= len(s.folders) {
		http.NotFound(w, r)
		return
	}
	if r.URL.Path == "/list" {
		for _, d := range s.folders[n] {
			fmt.Fprintf(w, "%s %d bytes\n", d.name, d.size)
		}
		return
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, d := range s.folders[n] {
		entry, err := z.CreateHeader(&zip.FileHeader{Name: d.name, Method: zip.Store})
		if err == nil {
			err = d.writeTo(entry)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	if err := z.Close(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(b.Len()))
	_, _ = w.Write(b.Bytes()) // whoever left needs no answer
}

// visited downloads each folder once, a few at a time, with lists looked at in between.
func (s *shelf) visited(url string, round int) error {
	var all sync.WaitGroup
	failed := make([]error, downloaders)
	for who := range downloaders {
		all.Go(func() {
			for n := who; n < len(s.folders) && failed[who] == nil; n += downloaders {
				failed[who] = fetch(fmt.Sprintf("%s/archive?folder=%d", url, (n+round)%len(s.folders)))
			}
			for n := 0; n < lookups && failed[who] == nil; n++ {
				failed[who] = fetch(fmt.Sprintf("%s/list?folder=%d", url, n%len(s.folders)))
			}
		})
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func fetch(url string) error {
	r, err := http.Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, r.Status)
	}
	return nil
}
