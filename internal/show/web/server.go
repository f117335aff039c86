package web

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/answer/compare"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// Shelf is the recordings that a server shows.
type Shelf interface {
	// Book opens one by its name in the page's address; fs.ErrNotExist: there is none.
	Book(name string) (*Book, error)
	// List describes all of them, newest first, as JSON.
	List() (any, error)
	// Compare says how two of them differ, and the same in words.
	Compare(before, after string) (*compare.Diff, string, error)
}

// Server hands out the page of one shelf to whoever knows its address. Every
// answer comes from this process: the page loads nothing from elsewhere, and no
// other page can read it.
type Server struct {
	Shelf Shelf
	Fleet Fleet // nil: no store is asked
	// Token is the first element of every path: without it nothing is answered.
	Token string
	// Hosts are the names that a request may give for this server: another one comes
	// from a page whose name was pointed at the loopback address (DNS rebinding).
	Hosts []string
	// Redact leaves what names a place out of errors, too.
	Redact bool
	// Failed is told of a request that ended in a panic; nil: nobody is.
	Failed func(what any, stack []byte)
}

// NewToken is a secret for an address: 128 bits.
func NewToken() string { return rand.Text() }

// LoopbackHosts are the names of a listener on the loopback address.
func LoopbackHosts(a net.Addr) []string {
	_, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return nil
	}
	return []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port}
}

// Handler answers requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{token}/{$}":                   s.list,
		"GET /{token}/api/list":              s.listData,
		"GET /{token}/diff":                  s.compare,
		"GET /{token}/api/diff":              s.diff,
		"GET /{token}/fleet":                 s.fleet,
		"GET /{token}/api/fleet":             s.fleetData,
		"GET /{token}/assets/{file}":         s.asset,
		"GET /{token}/r/{name}/{$}":          s.page,
		"GET /{token}/r/{name}/api/overview": s.overview,
		"GET /{token}/r/{name}/api/timeline": s.timeline,
		"GET /{token}/r/{name}/api/instant":  s.instant,
		"GET /{token}/r/{name}/api/held":     s.held,
		"GET /{token}/r/{name}/api/tuning":   s.tuning,
		"GET /{token}/r/{name}/heap.pb.gz":   s.pprof,
	} {
		mux.HandleFunc(path, s.answer(serve))
	}
	mux.HandleFunc("/", s.answer(func(http.ResponseWriter, *http.Request) error { return fs.ErrNotExist }))
	// Before the mux, which answers a path that is not clean by itself.
	return s.guard(mux)
}

// policy lets the page use what came with it and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard refuses who does not know the token, or was led here by another page. It
// sees every request, whatever its path.
func (s *Server) guard(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer s.recover(w)
		h := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			h.Set(name, value)
		}
		token, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if !s.host(r.Host) || subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) != 1 {
			http.Error(w, "the address is not complete: copy it from the terminal", http.StatusForbidden)
			return
		}
		if ofAnother(r) {
			http.Error(w, "another page asked for this", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// ofAnother says whether another page asked. One that leads the browser here may: it
// sees nothing of the answer, and highwater's own file does so, which tells the
// browser the address (W3C Fetch Metadata, Sec-Fetch-Mode and Sec-Fetch-Dest).
func ofAnother(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "cross-site" && site != "same-site" {
		return false
	}
	shown := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !shown || r.Method != http.MethodGet || strings.Contains(r.URL.Path, "/api/")
}

// recover answers a request that panicked, and lets the server go on.
func (s *Server) recover(w http.ResponseWriter) {
	what := recover()
	if what == nil {
		return
	}
	if s.Failed != nil {
		s.Failed(what, debug.Stack())
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.Error(w, "highwater failed here, which is a fault of its own; what it said is in the terminal. The other pages still work.",
		http.StatusInternalServerError)
}

// answer writes what serve says is wrong.
func (s *Server) answer(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r); err != nil {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			http.Error(w, s.words(err), status(err))
		}
	}
}

// words are an error as it is shown.
func (s *Server) words(err error) string {
	if s.Redact {
		return procfs.PlainReason(err.Error())
	}
	return err.Error()
}

func (s *Server) host(name string) bool {
	for _, h := range s.Hosts {
		if name == h {
			return true
		}
	}
	return false
}

func status(err error) int {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, explain.ErrAt):
		return http.StatusBadRequest
	case errors.Is(err, recording.ErrNotRecording), errors.Is(err, explain.ErrNoMoment), errors.Is(err, recording.ErrDamaged):
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

func (s *Server) asset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	if strings.ContainsAny(name, `/\`) {
		return fs.ErrNotExist
	}
	text, err := asset(name)
	if err != nil {
		return err
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
	return nil
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) error {
	return writePage(w, pageData{Title: "Recordings", Root: ".", Kind: "list"})
}

func (s *Server) listData(w http.ResponseWriter, _ *http.Request) error {
	all, err := s.Shelf.List()
	if err != nil {
		return err
	}
	return writeJSON(w, all)
}

// compare is the page of two recordings; without script it is their difference in
// words.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	before, after := r.FormValue("before"), r.FormValue("after")
	_, text, err := s.Shelf.Compare(before, after)
	if err != nil {
		return err
	}
	return writePage(w, pageData{Title: before + " and " + after, Root: ".", Kind: "diff", Text: text})
}

func (s *Server) diff(w http.ResponseWriter, r *http.Request) error {
	d, text, err := s.Shelf.Compare(r.FormValue("before"), r.FormValue("after"))
	if err != nil {
		return err
	}
	words := map[string]string{} // what the rows are called
	for _, row := range d.Ledger {
		words[row.Name] = explain.RowWord(row.Name)
	}
	return writeJSON(w, map[string]any{"diff": d, "text": text, "words": words})
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Shelf.Book(r.PathValue("name"))
	if err != nil {
		return err
	}
	d := pageData{Title: b.Name, Root: "../..", Kind: "book"}
	if o, err := b.Overview(); err != nil {
		d.Text = s.words(err)
	} else {
		d.Text, d.Title = o.Text, o.Answer.Program.Name+", "+b.Name
		d.Ahead = []string{"api/overview", firstTimeline(o), "api/instant?at=&from="}
	}
	return writePage(w, d)
}

// firstTimeline is the course as the page asks for it first.
func firstTimeline(o *Overview) string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return "api/timeline?from=" + number(o.From) + "&to=" + number(o.until()) + "&steps=" + strconv.Itoa(overviewSteps)
}

func (s *Server) overview(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Shelf.Book(r.PathValue("name"))
	if err != nil {
		return err
	}
	o, err := b.Overview()
	if err != nil {
		return err
	}
	return writeJSON(w, o)
}

func (s *Server) timeline(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Shelf.Book(r.PathValue("name"))
	if err != nil {
		return err
	}
	from, errFrom := strconv.ParseFloat(r.FormValue("from"), 64)
	to, errTo := strconv.ParseFloat(r.FormValue("to"), 64)
	steps, errSteps := strconv.Atoi(r.FormValue("steps"))
	if err := errors.Join(errFrom, errTo, errSteps); err != nil || !(to > from) || from < -maxSeconds || to > maxSeconds {
		return explain.ErrAt
	}
	t, err := b.Timeline(from, to, steps)
	if err != nil {
		return err
	}
	return writeJSON(w, t)
}

// maxSeconds bounds what a request may name as a time: 30 years.
const maxSeconds = 1e9

func (s *Server) instant(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Shelf.Book(r.PathValue("name"))
	if err != nil {
		return err
	}
	i, err := b.Instant(r.FormValue("at"), r.FormValue("from"))
	if err != nil {
		return err
	}
	return writeJSON(w, i)
}

func (s *Server) held(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Shelf.Book(r.PathValue("name"))
	if err != nil {
		return err
	}
	h, err := b.Held(r.FormValue("at"))
	if err != nil {
		return err
	}
	return writeJSON(w, h)
}

func (s *Server) tuning(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Shelf.Book(r.PathValue("name"))
	if err != nil {
		return err
	}
	t, err := b.Tuning()
	if err != nil {
		return err
	}
	return writeJSON(w, t)
}

func (s *Server) pprof(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Shelf.Book(r.PathValue("name"))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	// A browser takes this name before that of the link.
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment",
		map[string]string{"filename": strings.TrimSuffix(filepath.Base(b.Path), ".hwm") + ".heap.pb.gz"}))
	return b.Pprof(w, r.FormValue("at"))
}

func writeJSON(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // whoever asked has gone
	return nil
}
