package cli

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

	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
)

// kept is one thing of the state directory that may be removed: a recording, or the
// folder of a trial with the recordings in it.
type kept struct {
	name    string // in the directory
	folder  bool
	bytes   int64
	changed time.Time
}

// program is the program's name in the recording's.
func (k kept) program() string { return programOf(k.name) }

// trialName is what trialFolder calls the folders of try and fit.
var trialName = regexp.MustCompile(`-(try|fit)-[0-9]+$`)

// keeper lists and removes what highwater has written into the state directory. It
// follows no symbolic link, and removes nothing else.
type keeper struct{ root *os.Root }

// openState opens the state directory, unless that is a link to another; nil where there
// is none yet. The caller closes it.
func openState() (*keeper, error) {
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
		return nil, usagef("XDG_STATE_HOME=DIR names the directory above the real one", "%s is a symbolic link, and nothing is removed through one", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the directory of recordings: %w", err)
	}
	return &keeper{root}, nil
}

func (k *keeper) close() { _ = k.root.Close() } // nothing was written through it

// list is all that is kept, newest first.
func (k *keeper) list() ([]kept, error) {
	entries, err := fs.ReadDir(k.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("list the directory of recordings: %w", err)
	}
	var all []kept
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil: // gone meanwhile
		case info.Mode().IsRegular() && strings.HasSuffix(e.Name(), suffix):
			all = append(all, kept{name: e.Name(), bytes: info.Size() + k.beside(e.Name()), changed: info.ModTime()})
		case info.IsDir() && trialName.MatchString(e.Name()):
			if one := (kept{name: e.Name(), folder: true}); k.measure(&one) {
				all = append(all, one)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b kept) int { return b.changed.Compare(a.changed) })
	return all, nil
}

// beside is how much SQLite keeps beside a recording that is written.
func (k *keeper) beside(name string) (n int64) {
	for _, end := range []string{"-wal", "-shm"} {
		if info, err := k.root.Lstat(name + end); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}

// measure sums up a trial's folder; its time is that of what was written last. It says no
// where there is no recording in it, or anything that a trial does not write.
func (k *keeper) measure(one *kept) (ok bool) {
	files, err := k.files(one.name)
	if err != nil {
		return false
	}
	for _, file := range files {
		one.bytes += file.Size()
		if file.ModTime().After(one.changed) {
			one.changed = file.ModTime()
		}
		ok = ok || strings.HasSuffix(file.Name(), suffix)
	}
	return ok
}

// ofTrial is what a trial writes into its folder: recordings, the output of its programs,
// and its answer.
var ofTrial = regexp.MustCompile(`\.hwm(-wal|-shm)?$|\.log$|^(try|fit)\.json$`)

// files are those of a trial's folder; the error is that there is anything else in it.
func (k *keeper) files(folder string) (list []fs.FileInfo, err error) {
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
func (k *keeper) refuses(one kept) error {
	if !one.folder {
		return recording.MayRemove(k.root, one.name)
	}
	if time.Since(one.changed) < time.Minute {
		return fmt.Errorf("%s: a trial may be running in it", one.name)
	}
	files, err := k.files(one.name)
	if err != nil {
		return err
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), suffix) {
			continue
		}
		if err := recording.MayRemove(k.root, filepath.Join(one.name, file.Name())); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// remove removes one, or says why not.
func (k *keeper) remove(one kept) error {
	if err := k.refuses(one); err != nil {
		return err
	}
	if !one.folder {
		return recording.Remove(k.root, one.name)
	}
	files, err := k.files(one.name)
	if err != nil {
		return err
	}
	for _, file := range files {
		path := filepath.Join(one.name, file.Name())
		if strings.HasSuffix(path, suffix) {
			err = recording.Remove(k.root, path)
		} else {
			err = k.root.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // what was beside a recording went with it
			return err
		}
	}
	return k.root.Remove(one.name)
}

// removeAll removes several and tells of each that it could not remove. It says how many
// were, and how much that was.
func (k *keeper) removeAll(s *streams, list []kept) (n int, bytes int64, err error) {
	for _, one := range list {
		if failed := k.remove(one); failed != nil {
			visible.Fprintf(s.err, "highwater: not removed: %v\n", failed)
			err = exitWith(exitFailed)
			continue
		}
		n, bytes = n+1, bytes+one.bytes
	}
	return n, bytes, err
}

// keptTrials are the folders of trials; none where nothing may be removed.
func keptTrials() []kept {
	k, err := openState()
	if err != nil || k == nil {
		return nil
	}
	defer k.close()
	all, _ := k.list() // what cannot be listed is not counted
	return slices.DeleteFunc(all, func(one kept) bool { return !one.folder })
}

// sum is how much all take.
func sum(list []kept) (bytes int64) {
	for _, one := range list {
		bytes += one.bytes
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
