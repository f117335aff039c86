package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/report"
	"github.com/highwater-go/highwater/internal/visible"
	"github.com/highwater-go/highwater/internal/web"
)

type openFlags struct {
	html, source, listen        string
	noBrowser, noSource, redact bool
}

func openCommand(s *streams) *cobra.Command {
	var f openFlags
	c := &cobra.Command{
		Use:   "open [RECORDING]",
		Short: "The same in the browser, or as one offline file",
		Long: `Shows a recording as a page: the verdict, the course, where the memory was, who
held it, why, and what fixes it. One that is still being written is followed.
Without RECORDING the page lists all recordings.

The page is served on this machine's loopback address, under an address that
nobody can guess, until Ctrl-C. It loads nothing from elsewhere. With --html it is
written with its data as one file instead, which needs neither network nor server.`,
		Example: `  highwater open
  highwater open server-3
  highwater open server-3 --no-browser          print the address, for ssh -L
  highwater open server-3 --html kill.html      to attach to a ticket`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.html != "" {
				return f.writeFile(s, args)
			}
			return f.serve(c.Context(), s, args)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.html, "html", "", "write one offline `file` instead of serving")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "loopback `address` to serve on; port 0: any free one")
	flags.BoolVar(&f.noBrowser, "no-browser", false, "print the address and start no browser")
	flags.BoolVar(&f.noSource, "no-source", false, "show no source lines")
	flags.BoolVar(&f.redact, "redact", false, "leave out source, directories, command lines, host and notes")
	flags.StringVar(&f.source, "source", "", "`directory` of the program's source, where it is not where it was built")
	return c
}

// writeFile writes the page as one file, whole or not at all.
func (f openFlags) writeFile(s *streams, args []string) error {
	path, err := findRecording(args)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	book := f.book(path)
	leftOut, err := book.WriteOffline(&page)
	if err != nil {
		return momentError(recordingError(err), path)
	}
	err = exportFlags{output: f.html, csv: true}.to(s, func(w io.Writer) error {
		_, err := page.WriteTo(w)
		return err
	})
	if err != nil {
		return err
	}
	for _, l := range leftOut {
		visible.Fprintf(s.err, "left out: %s\n", l)
	}
	if book.Source != nil {
		for _, file := range book.Source.Shown() {
			visible.Fprintf(s.err, "source lines in it are from %s\n", file)
		}
	}
	return nil
}

// serve answers the browser until it is interrupted.
func (f openFlags) serve(ctx context.Context, s *streams, args []string) error {
	shelf := &shelf{flags: f, books: map[string]*web.Book{}}
	defer shelf.close()
	at, first := "/", (*web.Book)(nil)
	if len(args) > 0 {
		path, err := findRecording(args)
		if err != nil {
			return err
		}
		if err := readable(path); err != nil {
			return err
		}
		first = shelf.put(path)
		at = "/r/" + url.PathEscape(shelfName(path)) + "/"
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // before it says that it serves
	defer stop()
	listener, err := listenLoopback(f.listen)
	if err != nil {
		return err
	}
	server := web.Server{Shelf: shelf, Token: web.NewToken(), Hosts: web.LoopbackHosts(listener.Addr())}
	address := "http://" + listener.Addr().String() + "/" + server.Token + at
	visible.Fprintf(s.out, "%s\n", address)
	if first != nil { // while the browser starts
		warm := make(chan struct{})
		go func() { defer close(warm); first.Warm() }()
		defer func() { <-warm }()
	}
	if !f.noBrowser {
		if err := startBrowser(address); err != nil {
			visible.Fprintf(s.err, "no browser was started: %v; open the address above\n", err)
		}
	}
	visible.Fprintf(s.err, "serving until Ctrl-C\n")
	return serveUntil(ctx, listener, server.Handler())
}

// listenLoopback refuses addresses that others could reach.
func listenLoopback(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usagef("--listen 127.0.0.1:8080", "--listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, usagef("ssh -L brings a loopback address elsewhere", "--listen: %s is not a loopback address: a recording is not shown to the network", host)
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, usagef("leave --listen out for a free port", "--listen: the port is in use: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return l, nil
}

func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("open: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = server.Shutdown(ending) // who still reads is cut off
	_ = server.Close()
	<-done
	return nil
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
func (f openFlags) book(path string) *web.Book {
	name, asTyped := shortName(path), typed(path)
	if f.redact {
		name = filepath.Base(path)
		asTyped = typed(name)
	}
	options := report.Options{Next: "highwater open " + asTyped}
	b := &web.Book{
		Path: path, Name: name, Typed: asTyped, Redact: f.redact,
		Answer: func(e *explain.Evidence) (*explain.Answer, error) { return answerOf(path, e) },
		Pprof: func(w io.Writer, at string) error {
			r, err := recording.Open(path)
			if err != nil {
				return err
			}
			defer r.Close()
			return exportFlags{}.writePprof(w, r, path, at)
		},
	}
	if !f.noSource && !f.redact {
		b.Source = finder(f.source, goProgram(path))
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

// shelf is the recordings that a server shows: those of the state directory, and
// the one it was started for.
type shelf struct {
	flags openFlags
	mu    sync.Mutex
	books map[string]*web.Book
}

// shelfName is the name of a recording in addresses.
func shelfName(path string) string { return strings.TrimSuffix(filepath.Base(path), suffix) }

func (s *shelf) put(path string) *web.Book {
	b := s.flags.book(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.books[shelfName(path)] = b
	return b
}

// close releases what is on the shelf.
func (s *shelf) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.books {
		_ = b.Close() // nothing was written
	}
}

// Book is the recording of that name.
func (s *shelf) Book(name string) (*web.Book, error) {
	s.mu.Lock()
	b := s.books[name]
	s.mu.Unlock()
	if b != nil {
		return b, nil
	}
	all, err := storedRecordings()
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if shortName(one.path) == name {
			return s.put(one.path), nil
		}
	}
	return nil, fmt.Errorf("no recording %q: %w", name, fs.ErrNotExist)
}

// Compare is how two recordings differ, and what highwater diff prints of it.
func (s *shelf) Compare(before, after string) (*explain.Diff, string, error) {
	var sides [2]compared
	for i, name := range []string{before, after} {
		b, err := s.Book(name)
		if err != nil {
			return nil, "", err
		}
		sides[i] = compared{path: b.Path}
	}
	d, err := compare(sides[0], sides[1], 0)
	if err != nil {
		return nil, "", err
	}
	if s.flags.redact {
		for _, lines := range [][]explain.DiffLine{d.Grew, d.Shrank, d.Same, d.AllocatedBy} {
			for i := range lines {
				lines[i].File = explain.ShortFile(lines[i].File)
			}
		}
	}
	var out strings.Builder
	err = report.DiffText(&out, d, report.Options{Source: explainFlags{source: s.flags.source}.sourceLines(sides[1].path), NoSource: s.flags.noSource || s.flags.redact,
		Next: "highwater diff " + visible.Shell(before, after)})
	return d, out.String(), err
}

// List is what highwater list prints.
func (s *shelf) List() (any, error) {
	files, err := storedRecordings()
	if err != nil {
		return nil, err
	}
	all := make([]listed, 0, len(files))
	for _, f := range files {
		all = append(all, describe(f))
	}
	n, _ := readNotes() // what the user wrote wrongly takes nothing else away
	tellCauses(all, n)
	return map[string]any{"schema": "highwater.list/1", "recordings": all}, nil
}
