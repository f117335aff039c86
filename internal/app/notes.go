package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

const notesSchema = "highwater.notes/1"

// notes are what people said of causes: a small file beside their recordings.
type notes struct {
	Schema string      `json:"schema"`
	Notes  []namedNote `json:"notes"` // by fingerprint
}

// namedNote is the note of one cause.
type namedNote struct {
	Fingerprint string `json:"fingerprint"`
	explain.Note
}

func notesPath() (string, error) {
	dir, err := stateDir()
	return filepath.Join(dir, "notes.json"), err
}

// ReadNotes are the notes of this user, none where there is no file.
func ReadNotes() (notes, error) {
	n := notes{Schema: notesSchema, Notes: []namedNote{}}
	path, err := notesPath()
	if errors.Is(err, errNoState) {
		return n, nil // where none can be
	}
	if err != nil {
		return n, err
	}
	text, err := readOwn(path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err == nil && n.Schema != notesSchema {
		err = fmt.Errorf("its schema is %q, and this highwater knows %s", n.Schema, notesSchema)
	}
	if err != nil {
		return n, fmt.Errorf("read the notes in %s: %w", path, err)
	}
	return n, nil
}

// mostOwn bounds the small files of the state directory, and the user's own of causes.
const mostOwn = 16 << 20

// readOwn reads one of them. The directory may be another's, as it is of root with a user's HOME: a pipe there keeps
// nobody waiting.
func readOwn(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostOwn))
}

// of is the note of a fingerprint, nil if it has none.
func (n notes) of(fingerprint string) *explain.Note {
	for i := range n.Notes {
		if n.Notes[i].Fingerprint == fingerprint {
			return &n.Notes[i].Note
		}
	}
	return nil
}

// put sets the note of a fingerprint; nil removes it.
func (n *notes) put(fingerprint string, note *explain.Note) {
	n.Notes = slices.DeleteFunc(n.Notes, func(one namedNote) bool { return one.Fingerprint == fingerprint })
	if note == nil {
		return
	}
	n.Notes = append(n.Notes, namedNote{fingerprint, *note})
	sorting.Stable(n.Notes, func(a, b namedNote) int { return strings.Compare(a.Fingerprint, b.Fingerprint) })
}

// write replaces the file as a whole: a reader sees the old one or the new one.
func (n notes) write() error {
	path, err := notesPath()
	if err != nil {
		return err
	}
	if err := replaceJSON(path, n); err != nil {
		return fmt.Errorf("write the notes: %w", err)
	}
	return nil
}

// replaceJSON writes a file of the state directory anew.
func replaceJSON(path string, content any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return outfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// noted is a new note.
func noted(text string, accepted bool) *explain.Note {
	return &explain.Note{Text: text, Accepted: accepted, At: time.Now().UTC().Format(time.RFC3339)}
}
