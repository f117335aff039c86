// Uploads is a small server that takes files by multipart form and lists them:
// the kind of program that many have written, with the fault that many have
// made. It parses each form with ParseMultipartForm(32 << 20), which keeps up to
// 32 MiB of a form in memory. One upload at a time is fine. Several at once are
// not, under a small limit.
//
// With -fixed it reads the parts as they come and writes them to disk.
//
//	POST /upload       multipart form with files
//	GET  /files        their names, sizes and hashes, as JSON
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// file is what is known of one upload.
type file struct {
	Name   string    `json:"name"`
	Bytes  int64     `json:"bytes"`
	SHA256 string    `json:"sha256"`
	At     time.Time `json:"at"`
}

// store keeps files in a folder and remembers the last of them.
type store struct {
	dir string

	mu    sync.Mutex
	files []file
}

const remembered = 200

func main() {
	address := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	dir := flag.String("dir", filepath.Join(os.TempDir(), "uploads-demo"), "folder for the files; those of an earlier run are removed")
	fixed := flag.Bool("fixed", false, "stream the parts to disk")
	flag.Parse()
	if err := run(*address, *dir, *fixed); err != nil {
		log.Fatal(err)
	}
}

func run(address, dir string, fixed bool) error {
	if err := prepare(dir); err != nil {
		return err
	}
	s := &store{dir: dir}
	take := s.upload
	if fixed {
		take = s.stream
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /files", s.list)
	mux.HandleFunc("POST /upload", take)
	log.Printf("listening on http://%s", address)
	return serve(&http.Server{Addr: address, Handler: mux})
}

// prepare makes the folder, and clears it of an earlier run's files: a server
// that was killed could not.
func prepare(dir string) error {
	old, err := filepath.Glob(filepath.Join(dir, "file-*"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return os.MkdirAll(dir, 0o755)
}

// upload takes a form. This is the fault: the whole form is in memory before
// the first byte is stored.
func (s *store) upload(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseMultipartForm(32 << 20); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer r.MultipartForm.RemoveAll()
	for _, headers := range r.MultipartForm.File {
		for _, h := range headers {
			part, err := h.Open()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			err = s.save(h.Filename, part)
			part.Close()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
	}
	fmt.Fprintln(w, "stored")
}

// stream is the same without the fault.
func (s *store) stream(w http.ResponseWriter, r *http.Request) {
	parts, err := r.MultipartReader()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err == nil && part.FileName() != "" {
			err = s.save(part.FileName(), part)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	fmt.Fprintln(w, "stored")
}

// save writes one file and hashes it on the way.
func (s *store) save(name string, from io.Reader) error {
	f, err := os.CreateTemp(s.dir, "file-")
	if err != nil {
		return err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, hash), from)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = append(s.files, file{Name: name, Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil)), At: time.Now().UTC()})
	if over := len(s.files) - remembered; over > 0 {
		s.files = append([]file(nil), s.files[over:]...)
	}
	return nil
}

// list answers with what is remembered.
func (s *store) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	files := append([]file{}, s.files...)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(files); err != nil {
		log.Print("list: ", err)
	}
}
