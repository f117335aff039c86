package cli

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

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/explain"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/report"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
	"github.com/highwater-go/highwater/internal/web"
)

type openFlags struct {
	html, source, listen        string
	noBrowser, noSource, redact bool
	idle                        time.Duration
	bound                       bound
}

func openCommand(s *streams) *cobra.Command {
	var f openFlags
	c := &cobra.Command{
		Use:   "open [RECORDING]",
		Short: "Open the answer in a browser, or write it as one offline file",
		Long: `Shows a recording as a page: the verdict, memory over time, what retained it, why, and
what fixes it. The page follows a recording that is still being written. Without
RECORDING, it lists all recordings.

Highwater serves the page on the loopback address, under an address that nobody can
guess, until Ctrl-C or until nobody has asked for --idle. It leads the browser there
through a file that only you may read; a browser that cannot read files of /tmp (a snap)
needs the address that the terminal shows. The page loads nothing from elsewhere. --html
writes the page with its data as one file, which needs neither network nor server.`,
		Example: `  highwater open
  highwater open server-3
  highwater open server-3 --no-browser          print the address, for ssh -L
  highwater open server-3 --html kill.html      to attach to a ticket`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			most, err := f.bound.most(mostReading)
			if err != nil {
				return err
			}
			if f.html != "" {
				return f.bound.within("open", func() error { return f.writeFile(s, args) })
			}
			w := &watchman{what: "open", most: most, long: f.bound.time, serving: true}
			return w.run(func() error { return f.serve(c.Context(), s, args, w) })
		},
	}
	flags := c.Flags()
	c.ValidArgsFunction = completeRecordings(1)
	flags.StringVar(&f.html, "html", "", "write one offline `file` instead of serving")
	flags.StringVar(&f.bound.memory, "max-memory", "", "use at most this `size` of memory (default: 1GiB)")
	addTime(&f.bound, c)
	f.bound.live = s.live
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "serve on this loopback `address`; port 0: any free port")
	flags.BoolVar(&f.noBrowser, "no-browser", false, "print the address without starting a browser")
	flags.DurationVar(&f.idle, "idle", 30*time.Minute, "stop serving after this time without a request; 0: never")
	flags.BoolVar(&f.noSource, "no-source", false, "leave out source lines")
	flags.BoolVar(&f.redact, "redact", false, "leave out source, directories, command lines, the host, PIDs, addresses, label values and notes")
	flags.StringVar(&f.source, "source", "", "look for the source in this `directory`, where it is not where the program was built")
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
func (f openFlags) serve(ctx context.Context, s *streams, args []string, w *watchman) error {
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
	server := web.Server{Shelf: shelf, Token: web.NewToken(), Hosts: web.LoopbackHosts(listener.Addr()), Redact: f.redact,
		Failed: func(what any, stack []byte) { visible.Fprintf(s.err, "highwater: a page failed: %v\n%s", what, stack) }}
	address := "http://" + listener.Addr().String() + "/" + server.Token + at
	visible.Fprintf(s.out, "%s\n", address)
	visible.Fprintf(s.err, "%s\n", f.untilWhen())
	if first != nil { // while the browser starts
		warm := make(chan struct{})
		go func() { defer close(warm); first.Warm() }()
		defer func() { <-warm }()
	}
	if !f.noBrowser {
		remove, err := openBrowser(address)
		defer remove()
		if err != nil {
			visible.Fprintf(s.err, "no browser was started: %v; open the address above\n", err)
		}
	}
	idle, err := serveUntil(ctx, listener, w.around(server.Handler()), f.idle)
	if idle {
		visible.Fprintf(s.err, "stopped serving: no request for %s\n", units.Duration(f.idle))
	}
	return err
}

// untilWhen says how long the page is there.
func (f openFlags) untilWhen() string {
	if f.idle <= 0 {
		return "serving until Ctrl-C"
	}
	return "serving until Ctrl-C, or until nobody has asked for " + units.Duration(f.idle) + " (--idle)"
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
		Answer: f.answer(path),
		Pprof: func(w io.Writer, at string) error {
			r, err := f.open(path)
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

// open opens a recording as the page reads it.
func (f openFlags) open(path string) (*recording.Reader, error) {
	if f.redact {
		return recording.OpenRedacted(path)
	}
	return recording.Open(path)
}

// answer is what is said of a recording. What the user has noted of causes and
// tried is left out of a redacted page, and so are causes of his own.
func (f openFlags) answer(path string) func(*explain.Evidence) (*explain.Answer, error) {
	return func(e *explain.Evidence) (*explain.Answer, error) {
		if f.redact {
			return explain.Explain(e, earlier{path})
		}
		return answerOf(path, e)
	}
}
