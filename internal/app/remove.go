package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// kept is one thing of the state directory that may be removed: a recording, or the
// folder of a trial with the recordings in it.
type kept struct {
	Name    string // in the directory
	folder  bool
	Bytes   int64
	changed time.Time
}

// program is the program's name in the recording's.
func (k kept) program() string { return programOf(k.Name) }

// trialName is what trialFolder calls the folders of try and fit.
var trialName = regexp.MustCompile(`-(try|fit)-[0-9]+$`)

// stateFolder lists and removes what highwater has written into the state directory. It
// follows no symbolic link, and removes nothing else.
type stateFolder struct{ root *os.Root }

// OpenState opens the state directory, unless that is a link to another; nil where there
// is none yet. The caller closes it.
func OpenState() (*stateFolder, error) {
	dir, err := stateDir()
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at the directory of recordings: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, Usagef("XDG_STATE_HOME=DIR names the directory above the real one", "%s is a symbolic link, and nothing is removed through one", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the directory of recordings: %w", err)
	}
	return &stateFolder{root}, nil
}

func (k *stateFolder) Close() { _ = k.root.Close() } // nothing was written through it

// List is all that is kept, newest first.
func (k *stateFolder) List() ([]kept, error) {
	entries, err := fs.ReadDir(k.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list the directory of recordings: %w", err)
	}
	var all []kept
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil: // gone meanwhile
		case info.Mode().IsRegular() && strings.HasSuffix(e.Name(), Suffix):
			all = append(all, kept{Name: e.Name(), Bytes: info.Size() + k.beside(e.Name()), changed: info.ModTime()})
		case info.IsDir() && trialName.MatchString(e.Name()):
			if one := (kept{Name: e.Name(), folder: true}); k.measure(&one) {
				all = append(all, one)
			}
		}
	}
	sorting.Stable(all, func(a, b kept) int { return b.changed.Compare(a.changed) })
	return all, nil
}

// beside is how much SQLite keeps beside a recording that is written.
func (k *stateFolder) beside(name string) (n int64) {
	for _, end := range []string{"-wal", "-shm"} {
		if info, err := k.root.Lstat(name + end); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}

// measure sums up a trial's folder; its time is that of what was written last. It says no
// where there is no recording in it, or anything that a trial does not write.
func (k *stateFolder) measure(one *kept) (ok bool) {
	files, err := k.files(one.Name)
	if err != nil {
		return false
	}
	for _, file := range files {
		one.Bytes += file.Size()
		if file.ModTime().After(one.changed) {
			one.changed = file.ModTime()
		}
		ok = ok || strings.HasSuffix(file.Name(), Suffix)
	}
	return ok
}

// ofTrial is what a trial writes into its folder: recordings, the output of its programs,
// and its answer.
var ofTrial = regexp.MustCompile(`\.hwm(-wal|-shm)?$|\.log$|^(try|fit)\.json$`)

// files are those of a trial's folder; the error is that there is anything else in it.
func (k *stateFolder) files(folder string) (list []fs.FileInfo, err error) {
	entries, err := fs.ReadDir(k.root.FS(), folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !ofTrial.MatchString(e.Name()) {
			return nil, fmt.Errorf("%s holds %s, which no trial writes", folder, e.Name())
		}
		list = append(list, info)
	}
	return list, nil
}

// refuses is why one is not removed; nil: it may be.
func (k *stateFolder) refuses(one kept) error {
	if !one.folder {
		return recording.MayRemove(k.root, one.Name)
	}
	if time.Since(one.changed) < time.Minute {
		return fmt.Errorf("%s: a trial may be running in it", one.Name)
	}
	files, err := k.files(one.Name)
	if err != nil {
		return err
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), Suffix) {
			continue
		}
		if err := recording.MayRemove(k.root, filepath.Join(one.Name, file.Name())); err != nil {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
	}
	return nil
}

// remove removes one, or says why not.
func (k *stateFolder) remove(one kept) error {
	if err := k.refuses(one); err != nil {
		return err
	}
	if !one.folder {
		return recording.Remove(k.root, one.Name)
	}
	files, err := k.files(one.Name)
	if err != nil {
		return err
	}
	for _, file := range files {
		path := filepath.Join(one.Name, file.Name())
		if strings.HasSuffix(path, Suffix) {
			err = recording.Remove(k.root, path)
		} else {
			err = k.root.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // what was beside a recording went with it
			return err
		}
	}
	return k.root.Remove(one.Name)
}

// removeAll removes several and tells of each that it could not remove. It says how many
// were, and how much that was.
func (k *stateFolder) removeAll(s *Streams, list []kept) (n int, bytes int64, err error) {
	for _, one := range list {
		if failed := k.remove(one); failed != nil {
			visible.Fprintf(s.Err, "highwater: not removed: %v\n", failed)
			err = ExitWith(ExitFailed)
			continue
		}
		n, bytes = n+1, bytes+one.Bytes
	}
	return n, bytes, err
}

// keptTrials are the folders of trials; none where nothing may be removed.
func keptTrials() []kept {
	k, err := OpenState()
	if err != nil || k == nil {
		return nil
	}
	defer k.Close()
	all, _ := k.List() // what cannot be listed is not counted
	return slices.DeleteFunc(all, func(one kept) bool { return !one.folder })
}

// sum is how much all take.
func sum(list []kept) (bytes int64) {
	for _, one := range list {
		bytes += one.Bytes
	}
	return bytes
}

// many counts recordings in words.
func many(n int) string {
	if n == 1 {
		return "1 recording"
	}
	return fmt.Sprintf("%d recordings", n)
}

// sized is a number of recordings and what they take.
func sized(n int, bytes int64) string { return many(n) + ", " + units.Size(bytes) }
