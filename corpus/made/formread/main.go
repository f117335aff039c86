// Formread is a service that takes scans of documents with a form, checks them, and sends them
// to an archive. It lets net/http read the form, with room for all of it in memory because
// the disk of its container is small, and then reads each file from there once more. A few times
// a minute, here every two seconds, somebody sends a large one. Repaired, the parts go to the
// archive as they come.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type scans struct {
	streams bool
	templ   map[string][]uint32 // 18 MiB of what forms look like
	stored  int64
}

func newScans(streams bool) *scans {
	s := &scans{streams: streams, templ: map[string][]uint32{}}
	for i := range 18 << 6 {
		form := make([]uint32, 4<<10)
		for n := range form {
			form[n] = uint32(i * n)
		}
		s.templ[fmt.Sprint("form-", i)] = form
	}
	return s
}

var errEmpty = errors.New("empty scan")

// upload is the handler.
func (s *scans) upload(w http.ResponseWriter, r *http.Request) {
	take := s.whole
	if s.streams {
		take = s.parts
	}
	if err := take(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (s *scans) whole(r *http.Request) error {
	if err := r.ParseMultipartForm(1 << 30); err != nil { // truth: parses
		return err
	}
	defer r.MultipartForm.RemoveAll()
	for _, headers := range r.MultipartForm.File {
		for _, h := range headers {
			file, err := h.Open()
			if err != nil {
				return err
			}
			text, err := io.ReadAll(file) // truth: reads
			if err != nil {
				return err
			}
			if len(text) == 0 {
				return errEmpty
			}
			s.archive(sha256.Sum256(text), int64(len(text)))
		}
	}
	return nil
}

func (s *scans) parts(r *http.Request) error {
	all, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := all.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		sum := sha256.New()
		n, err := io.Copy(sum, part)
		if err != nil {
			return err
		}
		s.archive([sha256.Size]byte(sum.Sum(nil)), n)
	}
}

func (s *scans) archive(sum [sha256.Size]byte, n int64) {
	form := s.templ[fmt.Sprint("form-", int(sum[0]))]
	s.stored += n + int64(form[1]&1)
}

// send is a client with a form of one file of n bytes.
func send(address string, n int) error {
	read, write := io.Pipe()
	form := multipart.NewWriter(write)
	go func() {
		page := frame.Touch(make([]byte, 64<<10))
		file, err := form.CreateFormFile("scan", "scan.tif")
		for left := n; err == nil && left > 0; left -= len(page) {
			_, err = file.Write(page[:min(left, len(page))])
		}
		if err == nil {
			err = form.Close()
		}
		write.CloseWithError(err)
	}()
	answer, err := http.Post(address, form.FormDataContentType(), read)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		var said bytes.Buffer
		io.CopyN(&said, answer.Body, 200)
		return errors.New(said.String())
	}
	return nil
}

func main() {
	f := frame.Parse()
	s := newScans(f.Repaired)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /scans", s.upload)
	server := httptest.NewServer(mux)
	for n := 0; !f.Over(); n++ {
		if err := send(server.URL+"/scans", 64<<10); err != nil {
			log.Fatal(err)
		}
		if n%40 == 0 && n >= 80 { // the first after four seconds
			if err := send(server.URL+"/scans", int(f.Total/2)); err != nil {
				log.Fatal(err)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.Stay()
	log.Printf("%d bytes stored", s.stored)
}
