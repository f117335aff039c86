package main

import (
	_ "embed"
	"html/template"
	"log"
	"net/http"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page shows the log-in, or what is stored and a form to add to it.
func (s *server) page(w http.ResponseWriter, r *http.Request) {
	var view struct {
		Known   bool
		Entries []entry
	}
	if view.Known = s.known(r); view.Known {
		var err error
		if view.Entries, err = s.store.list(r.Context()); err != nil {
			fail(w, err)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; form-action 'self'")
	if err := pageTemplate.Execute(w, view); err != nil {
		log.Print("page: ", err)
	}
}
