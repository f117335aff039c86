// Package web is a recording as a page: the data of it, the server that hands both
// out on loopback, and the same as one file that needs neither network nor
// server. It reads recordings and judges nothing: what happened comes from package
// explain, and how that is worded from whoever opens a Book.
//
// The server computes, the browser draws: columns are resampled here, sources are
// looked up here, and the page in ui/ (TypeScript, bundled into assets/) shows what
// it is given.
package web

import (
	"io"
	"sync"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/files/source"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// Schema names the form of the page's data. It is between this package and the
// page that it carries, and no contract with others: explain --json is one.
const Schema = "highwater.page/1"

// Book is one recording that is open, and what is said of it. Its methods may be
// called by several goroutines.
type Book struct {
	Path  string // of the recording
	Name  string // of the recording
	Typed string // the same in a command to type
	// Answer is what explain says of the recording as a whole.
	Answer func(*explain.Evidence) (*explain.Answer, error)
	// Text and Markdown are an answer in words; Pprof writes the heap profile of a
	// moment, "" or as explain --at has it.
	Text, Markdown func(*explain.Answer) (string, error)
	Pprof          func(w io.Writer, at string) error
	// Source finds source lines; nil: none are shown.
	Source *source.Finder
	// Redact reads the recording as recording.OpenRedacted does: nothing that is made
	// of it names people, places, machines or secrets. Who hands in Answer and Pprof
	// does the same.
	Redact bool

	main    desk // one request at a time reads here: a Finder and Evidence are nobody else's meanwhile
	whole   kept // of the recording as a whole: few
	parts   kept // of instants of it
	course  desk // reads the course beside it
	courses kept // stretches of it
	tuning  sync.Mutex
	tuned   kept
}

// kept is what a finished recording was asked for: it does not change any more.
// Who uses it holds its lock.
type kept map[string]any

// mostKept bounds the answers that are kept.
const mostKept = 64

func once[T any](k *kept, key string, read func() (value T, keep bool, err error)) (T, error) {
	if v, ok := (*k)[key].(T); ok {
		return v, nil
	}
	v, keep, err := read()
	if err != nil || !keep {
		return v, err
	}
	if *k == nil || len(*k) >= mostKept {
		*k = kept{}
	}
	(*k)[key] = v
	return v, nil
}

// load reads the evidence of the recording as a whole: the only reading that grows
// with it.
func (b *Book) load(r *recording.Reader) (*explain.Evidence, error) {
	return once(&b.whole, "evidence", func() (*explain.Evidence, bool, error) {
		defer readAhead(b.Path)()
		e, err := explain.Load(r, b.Path, "")
		return e, err == nil && !r.Live(), err
	})
}
