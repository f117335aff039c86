package web

import (
	"context"
	"io/fs"
	"net/http"
)

// Fleet is what agents on many machines saw.
type Fleet interface {
	// Overview describes one service, or with "" all of them, since a length of time as
	// "7d", "" for one that fits; as JSON, and the same in words.
	Overview(ctx context.Context, service, since string) (data any, text string, err error)
}

// fleet is the page of all services, or of the one in its address; without script it is the
// answer in words.
func (s *Server) fleet(w http.ResponseWriter, r *http.Request) error {
	if s.Fleet == nil {
		return fs.ErrNotExist
	}
	service := r.FormValue("service")
	d := pageData{Title: "Fleet", Root: ".", Kind: "fleet"}
	if service != "" {
		d.Title = service
	}
	_, text, err := s.Fleet.Overview(r.Context(), service, r.FormValue("since"))
	if err != nil {
		text = s.words(err)
	}
	d.Text = text
	return writePage(w, d)
}

func (s *Server) fleetData(w http.ResponseWriter, r *http.Request) error {
	if s.Fleet == nil {
		return fs.ErrNotExist
	}
	data, _, err := s.Fleet.Overview(r.Context(), r.FormValue("service"), r.FormValue("since"))
	if err != nil {
		return err
	}
	return writeJSON(w, data)
}
