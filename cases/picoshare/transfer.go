package main

import (
	"fmt"
	"log"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/mux"
)

// A part of a form up to this size stays in memory, a longer one goes to a
// temporary file.
const formMemory = 1 << 20

// upload stores the form's file and answers with its entry.
func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	memory := int64(formMemory)
	if s.faults.Has("form32") {
		memory = 32 << 20
	}
	if err := r.ParseMultipartForm(memory); err != nil { // fault: form32
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer s.forget(r)
	e, err := s.save(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, http.StatusCreated, e)
}

// forget removes the form's temporary files. net/http does so for the request
// that it made itself, but the router's handlers get a copy of that one, and
// the form was parsed on the copy.
func (s *server) forget(r *http.Request) {
	if s.faults.Has("formleak") {
		return // fault: formleak
	}
	if err := r.MultipartForm.RemoveAll(); err != nil {
		log.Print("remove temporary files: ", err)
	}
}

// save copies the form's file into the database.
func (s *server) save(r *http.Request) (entry, error) {
	expires, err := expiry(r.FormValue("expires"), time.Now())
	if err != nil {
		return entry{}, err
	}
	part, header, err := r.FormFile("file")
	if err != nil {
		return entry{}, fmt.Errorf("the form's field file: %w", err)
	}
	defer part.Close()
	return s.store.add(r.Context(), entry{
		Name: header.Filename, Type: header.Header.Get("Content-Type"), Uploaded: time.Now().UTC(), Expires: expires,
	}, part)
}

// expiry is when a file that is kept for a duration ends; "" keeps it, and is nil.
func expiry(keep string, now time.Time) (*time.Time, error) {
	if keep == "" {
		return nil, nil
	}
	d, err := time.ParseDuration(keep)
	if err != nil || d <= 0 {
		return nil, fmt.Errorf("expires is %q; give a duration such as 36h", keep)
	}
	at := now.Add(d).UTC()
	return &at, nil
}

// download serves a file to whoever has its link.
func (s *server) download(w http.ResponseWriter, r *http.Request) {
	e, err := s.store.get(r.Context(), mux.Vars(r)["id"])
	if err != nil {
		fail(w, err)
		return
	}
	h := w.Header()
	h.Set("ETag", `"`+e.ID+`"`) // an entry never changes
	h.Set("Content-Type", e.Type)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", mime.FormatMediaType(disposition(e.Type), map[string]string{"filename": e.Name}))
	f := s.store.open(r.Context(), e)
	defer f.Close()
	http.ServeContent(w, r, e.Name, e.Uploaded, f)
}

// disposition lets browsers show what cannot run as a page of this site.
func disposition(contentType string) string {
	for _, kind := range []string{"image/png", "image/jpeg", "image/gif", "video/", "audio/", "text/plain"} {
		if strings.HasPrefix(contentType, kind) {
			return "inline"
		}
	}
	return "attachment"
}
