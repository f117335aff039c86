package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/highwater-go/highwater/internal/answer/compare"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/show/report"
	"github.com/highwater-go/highwater/internal/show/web"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// shelf is the recordings that a server shows: those of the state directory, and
// the one it was started for.
type shelf struct {
	flags OpenFlags
	mu    sync.Mutex
	books map[string]*web.Book
}

// shelfName is the name of a recording in addresses.
func shelfName(path string) string { return strings.TrimSuffix(filepath.Base(path), Suffix) }

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
	all, err := StoredRecordings()
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if ShortName(one.Path) == name {
			return s.put(one.Path), nil
		}
	}
	if s.flags.Fleet {
		return s.incident(name)
	}
	return nil, fmt.Errorf("no recording %q: %w", name, fs.ErrNotExist)
}

// incident is the recording of the incident whose ID begins so; it is fetched once.
func (s *shelf) incident(id string) (*web.Book, error) {
	path, ok, err := s.flags.Store.incidentRecording(context.Background(), id)
	if err != nil || !ok {
		return nil, cmp.Or(err, fmt.Errorf("no recording %q: %w", id, fs.ErrNotExist))
	}
	b := s.put(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.books[id] = b
	return b, nil
}

// Compare is how two recordings differ, and what highwater diff prints of it.
func (s *shelf) Compare(before, after string) (*compare.Diff, string, error) {
	var sides [2]compared
	for i, name := range []string{before, after} {
		b, err := s.Book(name)
		if err != nil {
			return nil, "", err
		}
		sides[i] = compared{path: b.Path, open: s.flags.open}
	}
	d, err := compareMoments(&Streams{Err: visible.NewWriter(io.Discard)}, sides[0], sides[1], 0)
	if err != nil {
		return nil, "", err
	}
	var out strings.Builder
	err = report.DiffText(&out, d, report.Options{Source: ExplainFlags{Source: s.flags.Source}.sourceLines(sides[1].path),
		NoSource: s.flags.NoSource || s.flags.Redact,
		Next:     "highwater diff " + visible.Shell(before, after)})
	return d, out.String(), err
}

// redactList leaves out where recordings and programs lie, and notes.
func redactList(all []Listed) {
	for i := range all {
		l := &all[i]
		l.Path, l.Note, l.Problem = filepath.Base(l.Path), nil, procfs.PlainReason(l.Problem)
		if l.Program != "" {
			l.Program = filepath.Base(l.Program)
		}
	}
}

// List is what highwater list prints.
func (s *shelf) List() (any, error) {
	files, err := StoredRecordings()
	if err != nil {
		return nil, err
	}
	all := make([]Listed, 0, len(files))
	for _, f := range files {
		all = append(all, Describe(f))
	}
	n, _ := ReadNotes() // what the user wrote wrongly takes nothing else away
	TellCauses(all, n)
	if s.flags.Redact {
		redactList(all)
	}
	return map[string]any{"schema": "highwater.list/1", "recordings": all, "groups": GroupsOf(all)}, nil
}
