package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/highwater-go/highwater/internal/decide/trial"
)

// prune removes the recordings of a finished trial that nobody would look at, see
// trial.Kept. The logs and all figures stay, and so do the runs in which the base
// showed its fault.
func (t *Try) prune(a *trial.Answer) {
	keep := trial.Kept(a.Runs)
	recordings := make([]*string, len(a.Runs))
	for i := range a.Runs {
		recordings[i] = &a.Runs[i].Recording
	}
	t.pruneAll(recordings, keep)
}

// prune keeps the free run's recording, and those of the edge of each search.
func (t *fit) prune() {
	var recordings []*string
	var keep []bool
	for _, f := range []*trial.Fitted{t.answer.AsIs, t.answer.Limited} {
		if f == nil {
			continue
		}
		keep = append(keep, f.Kept()...)
		for i := range f.Steps {
			recordings = append(recordings, &f.Steps[i].Recording)
		}
	}
	t.pruneAll(recordings, keep)
}

// pruneAll removes the recordings that are not kept, and empties their names.
func (st *stage) pruneAll(recordings []*string, keep []bool) {
	if st.KeepAll {
		return
	}
	removed := 0
	for i, name := range recordings {
		if keep[i] {
			continue
		}
		if err := os.Remove(filepath.Join(st.folder, *name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			st.status.say("a recording is left: %v", err)
			continue
		}
		*name = ""
		removed++
	}
	if removed > 0 {
		st.status.say("kept %d of %d recordings in %s; --keep-all keeps all", len(recordings)-removed, len(recordings), st.folder)
	}
}
