package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/recording"
)

const suffix = ".hwm"

// stateDir is where recordings live: $XDG_STATE_HOME/highwater, by default
// ~/.local/state/highwater (XDG base directory specification).
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "highwater"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the directory of recordings: %w", err)
	}
	return filepath.Join(home, ".local", "state", "highwater"), nil
}

// makeStateDir is stateDir, made where it is not there.
func makeStateDir() (string, error) {
	dir, err := stateDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory of recordings: %w", err)
	}
	return dir, nil
}

// newRecordingPath is a free name for a program's next recording: checkout-3.hwm.
// The file is not made.
func newRecordingPath(program string) (string, error) {
	dir, err := makeStateDir()
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%s-%d%s", program, n, suffix))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
	}
}

// cannotRecord is why a recording could not be made, and what to do about it.
func cannotRecord(err error) error {
	err = fmt.Errorf("write the recording: %w", err)
	var full recording.ErrFull
	if errors.As(err, &full) {
		return &exitError{code: exitFailed, err: err, hint: "make room there, or write elsewhere: highwater run -o OTHER-DISK/NAME.hwm; XDG_STATE_HOME moves all recordings"}
	}
	return err
}

// stored is one recording of the state directory.
type stored struct {
	path    string
	changed time.Time
	bytes   int64
}

// storedRecordings are the recordings of the state directory, newest first.
func storedRecordings() ([]stored, error) {
	dir, err := stateDir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list recordings: %w", err)
	}
	var all []stored
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasSuffix(e.Name(), suffix) || !info.Mode().IsRegular() {
			continue
		}
		all = append(all, stored{filepath.Join(dir, e.Name()), info.ModTime(), info.Size()})
	}
	slices.SortFunc(all, func(a, b stored) int { return b.changed.Compare(a.changed) })
	return all, nil
}

// findRecording is the file that an argument names: a path, a name of the state
// directory with or without .hwm, or with no argument the latest recording.
func findRecording(args []string) (string, error) {
	if len(args) == 0 {
		all, err := storedRecordings()
		if err != nil {
			return "", err
		}
		if len(all) == 0 {
			return "", usagef("highwater run -- PROGRAM makes one", "there is no recording yet")
		}
		return all[0].path, nil
	}
	name := args[0]
	candidates := []string{name, name + suffix}
	if dir, err := stateDir(); err == nil && !strings.ContainsRune(name, filepath.Separator) {
		candidates = append(candidates, filepath.Join(dir, name), filepath.Join(dir, name+suffix))
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	return "", usagef("highwater list shows the recordings", "no recording %q", name)
}

// shortName is how a recording is called in a command to type: its bare name
// where it lies in the state directory, else its path.
func shortName(path string) string {
	if dir, err := stateDir(); err == nil && filepath.Dir(path) == dir {
		return strings.TrimSuffix(filepath.Base(path), suffix)
	}
	return path
}
