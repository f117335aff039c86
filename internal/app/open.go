package app

import (
	"bytes"
	"context"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/show/report"
	"github.com/highwater-go/highwater/internal/show/web"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

type OpenFlags struct {
	HTML, Source, Listen        string
	NoBrowser, NoSource, Redact bool
	JSON                        bool // say as JSON where the page is
	Idle                        time.Duration
	Bound                       Bound
	Fleet                       bool // the page of a store, with the recordings of its incidents
	Store                       StoreFlags
}

// WriteFile writes the page as one file, whole or not at all.
func (f OpenFlags) WriteFile(s *Streams, args []string) error {
	path, err := f.Store.FindRecording(args)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	book := f.book(path)
	leftOut, err := book.WriteOffline(&page)
	if err != nil {
		return momentError(recordingError(err), path)
	}
	err = ExportFlags{Output: f.HTML, CSV: true}.to(s, func(w io.Writer) error {
		_, err := page.WriteTo(w)
		return err
	})
	if err != nil {
		return err
	}
	for _, l := range leftOut {
		visible.Fprintf(s.Err, "left out: %s\n", l)
	}
	if f.JSON {
		return s.PrintJSON(map[string]any{"schema": "highwater.open/1", "recording": path, "file": f.HTML, "left_out": append([]string{}, leftOut...)})
	}
	if book.Source != nil {
		for _, file := range book.Source.Shown() {
			visible.Fprintf(s.Err, "source lines in it are from %s\n", file)
		}
	}
	return nil
}

// Serve answers the browser until it is interrupted.
func (f OpenFlags) Serve(ctx context.Context, s *Streams, args []string, w *Watchman) error {
	shelf := &shelf{flags: f, books: map[string]*web.Book{}}
	defer shelf.close()
	at, shown, first := "/", "", (*web.Book)(nil)
	if len(args) > 0 {
		path, err := f.Store.FindRecording(args)
		if err != nil {
			return err
		}
		if err := readable(path); err != nil {
			return err
		}
		first, shown = shelf.put(path), path
		at = "/r/" + url.PathEscape(shelfName(path)) + "/"
	}
	var fleetOf web.Fleet
	if f.Fleet {
		store, err := f.openFleet(s)
		if err != nil {
			return err
		}
		defer store.Close()
		fleetOf, at = fleetPage{store, f.Store.Tenant}, "/fleet"
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // before it says that it serves
	defer stop()
	listener, err := listenLoopback(f.Listen)
	if err != nil {
		return err
	}
	server := web.Server{Shelf: shelf, Fleet: fleetOf, Token: web.NewToken(), Hosts: web.LoopbackHosts(listener.Addr()), Redact: f.Redact,
		Failed: func(what any, stack []byte) { visible.Fprintf(s.Err, "highwater: a page failed: %v\n%s", what, stack) }}
	address := "http://" + listener.Addr().String() + "/" + server.Token + at
	if err := f.sayWhere(s, address, shown); err != nil {
		return err
	}
	if first != nil { // while the browser starts
		warm := make(chan struct{})
		go func() { defer close(warm); first.Warm() }()
		defer func() { <-warm }()
	}
	if !f.NoBrowser {
		remove, err := openBrowser(address)
		defer remove()
		if err != nil {
			visible.Fprintf(s.Err, "no browser was started: %v; open the address above\n", err)
		}
	}
	idle, err := serveUntil(ctx, listener, w.around(server.Handler()), f.Idle)
	if idle {
		visible.Fprintf(s.Err, "stopped serving: no request for %s\n", units.Duration(f.Idle))
	}
	return err
}

// sayWhere prints the address of a page, of a recording or, with "", of several.
func (f OpenFlags) sayWhere(s *Streams, address, recording string) error {
	if f.JSON {
		if err := s.PrintJSON(map[string]any{"schema": "highwater.open/1", "recording": recording, "address": address}); err != nil {
			return err
		}
	} else {
		visible.Fprintf(s.Out, "%s\n", address)
	}
	visible.Fprintf(s.Err, "%s\n", f.untilWhen())
	return nil
}

// openFleet opens the store of a fleet's page. The caller closes it.
func (f OpenFlags) openFleet(s *Streams) (fleet.Store, error) {
	if f.Redact {
		return nil, Usagef("leave one of them out", "--redact is for recordings: a fleet's page names services and pods")
	}
	return f.Store.Open()
}

// untilWhen says how long the page is there.
func (f OpenFlags) untilWhen() string {
	if f.Idle <= 0 {
		return "serving until Ctrl-C"
	}
	return "serving until Ctrl-C, or until nobody has asked for " + units.Duration(f.Idle) + " (--idle)"
}

// readable says now what a page would have to say.
func readable(path string) error {
	r, err := recording.Open(path)
	if err != nil {
		return recordingError(err)
	}
	return r.Close()
}

// book is a recording as the page has it.
func (f OpenFlags) book(path string) *web.Book {
	name, asTyped := ShortName(path), typed(path)
	if f.Redact {
		name = filepath.Base(path)
		asTyped = typed(name)
	}
	options := report.Options{Next: "highwater open " + asTyped}
	b := &web.Book{
		Path: path, Name: name, Typed: asTyped, Redact: f.Redact,
		Answer: f.answer(path),
		Pprof: func(w io.Writer, at string) error {
			r, err := f.open(path)
			if err != nil {
				return err
			}
			defer r.Close()
			return ExportFlags{}.writePprof(w, r, path, at)
		},
	}
	if !f.NoSource && !f.Redact {
		b.Source = finder(f.Source, goProgram(path))
		options.Source = func(function, file string, line int) (string, bool) {
			text, err := b.Source.Line(function, file, line)
			return text, err == nil
		}
	}
	b.Text = func(a *explain.Answer) (string, error) {
		var out strings.Builder
		err := report.Text(&out, a, options)
		return out.String(), err
	}
	b.Markdown = func(a *explain.Answer) (string, error) {
		text, err := b.Text(a)
		return fenced(strings.TrimSpace(text)), err
	}
	return b
}

// fenced is a text as Markdown shows it unchanged: its fence is longer than any in the
// text, which would end it (CommonMark, fenced code blocks).
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence + "\n"
}

// open opens a recording as the page reads it.
func (f OpenFlags) open(path string) (*recording.Reader, error) {
	if f.Redact {
		return recording.OpenRedacted(path)
	}
	return recording.Open(path)
}

// answer is what is said of a recording. What the user has noted of causes and
// tried is left out of a redacted page, and so are causes of his own.
func (f OpenFlags) answer(path string) func(*explain.Evidence) (*explain.Answer, error) {
	return func(e *explain.Evidence) (*explain.Answer, error) {
		if f.Redact {
			return explain.Explain(e, earlier{path})
		}
		return answerOf(path, e)
	}
}
