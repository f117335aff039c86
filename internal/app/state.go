package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

const Suffix = ".hwm"

// errNoState says that nobody has said where recordings are.
var errNoState = &ExitError{Code: ExitFailed, Err: errors.New("there is no directory of recordings: neither XDG_STATE_HOME nor HOME is set"),
	Hint: "XDG_STATE_HOME=DIR highwater ... sets it; or name the file: run -o NAME.hwm, explain NAME.hwm"}

// stateDir is where recordings are: $XDG_STATE_HOME/highwater, by default
// ~/.local/state/highwater (XDG base directory specification). A service may have no
// home; then it is temporaryState, once that was made.
func stateDir() (string, error) {
	if dir, ok := homeState(); ok {
		return dir, nil
	}
	if dir := temporaryState(); private(dir) == nil {
		return dir, nil
	}
	return "", errNoState
}

// homeState is the directory of recordings that the environment says, made or not.
func homeState() (dir string, ok bool) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "highwater"), true
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "highwater"), err == nil
}

// temporaryState is the directory of recordings of this user where there is no home.
func temporaryState() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("highwater-%d", os.Geteuid()))
}

// private is why a directory, in a place where everybody may make one of that name, is not
// ours alone; nil: it is.
func private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !owned(info) || info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is there and is not a directory for this user alone", dir)
	}
	return nil
}

// makeStateDir is stateDir, made where it is not there.
func makeStateDir() (string, error) {
	dir, home := homeState()
	if !home {
		return makeTemporaryState()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory of recordings: %w", err)
	}
	return dir, nil
}

func makeTemporaryState() (string, error) {
	dir := temporaryState()
	err := os.Mkdir(dir, 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = private(dir)
	}
	if err != nil {
		return "", &ExitError{Code: ExitFailed, Err: fmt.Errorf("make a directory of recordings: neither XDG_STATE_HOME nor HOME is set, and %w", err),
			Hint: errNoState.Hint}
	}
	return dir, nil
}

// sayTemporary says that a recording is where it may be lost.
func sayTemporary(s *status, path string) {
	if _, home := homeState(); !home && filepath.Dir(path) == temporaryState() {
		s.say("neither XDG_STATE_HOME nor HOME is set: recordings go to %s", filepath.Dir(path))
	}
}

// longestName is what of a program's name is in a recording's: a file's name has 255
// bytes (NAME_MAX), of which the number or time and SQLite's -journal need some.
const longestName = 180

// fileName is a program's name as a recording may be called: without what a shell or a
// terminal takes for more than a letter.
func fileName(program string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-+=,", r) {
			return r
		}
		return '_'
	}, strings.ToValidUTF8(program, "_"))
	for len(name) > longestName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	if strings.HasPrefix(name, "-") {
		name = "_" + name[1:]
	}
	return name
}

// newRecordingPath is a free name for a program's next recording: checkout-3.hwm.
// The file is not made.
func newRecordingPath(program string) (string, error) {
	dir, err := makeStateDir()
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%s-%d%s", fileName(program), n, Suffix))
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
		return &ExitError{Code: ExitFailed, Err: err,
			Hint: "make room there, or write elsewhere: highwater run -o OTHER-DISK/NAME.hwm; XDG_STATE_HOME moves all recordings"}
	}
	return err
}

// stored is one recording of the state directory.
type stored struct {
	Path    string
	Changed time.Time
	Bytes   int64
}

// StoredRecordings are the recordings of the state directory, newest first.
func StoredRecordings() ([]stored, error) {
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
		if err != nil || !strings.HasSuffix(e.Name(), Suffix) || !info.Mode().IsRegular() {
			continue
		}
		all = append(all, stored{filepath.Join(dir, e.Name()), info.ModTime(), info.Size()})
	}
	sorting.Stable(all, func(a, b stored) int { return b.Changed.Compare(a.Changed) })
	return all, nil
}

// Latest names the newest recording, unless a file is called so.
const Latest = "latest"

// FindRecording is the file that an argument names: a path, a name of the state
// directory with or without .hwm, or, with "latest" or no argument, the newest recording.
func FindRecording(args []string) (string, error) {
	return StoreFlags{}.Environment().FindRecording(args)
}

// FindRecording is the same, with this store's incidents.
func (store StoreFlags) FindRecording(args []string) (string, error) {
	if len(args) == 0 {
		return latestRecording()
	}
	name := args[0]
	candidates := []string{name, name + Suffix}
	if dir, err := stateDir(); err == nil && !strings.ContainsRune(name, filepath.Separator) {
		candidates = append(candidates, filepath.Join(dir, name), filepath.Join(dir, name+Suffix))
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			return "", forbidden(path)
		}
	}
	if name == Latest {
		return latestRecording()
	}
	if path, ok, err := store.incidentRecording(context.Background(), name); ok || err != nil {
		return path, err
	}
	hint := "highwater list shows the recordings"
	if store.Address == "" && mayBeIncident(name) {
		hint += "; of an incident, " + StoreVariable + " names the store"
	}
	return "", Usagef(hint, "no recording %q", name)
}

func latestRecording() (string, error) {
	all, err := StoredRecordings()
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", Usagef("highwater run -- PROGRAM makes one", "there is no recording yet")
	}
	return all[0].Path, nil
}

// forbidden is that this user may not look where a recording would be.
func forbidden(path string) error {
	return &ExitError{Code: exitNotPermitted, Err: fmt.Errorf("read the recording %s: permission denied", path),
		Hint: "a recording is for the user who made it: run highwater as that user, or as root"}
}

// ShortName is how a recording is called in a command to type: its bare name
// where it lies in the state directory, else its path.
func ShortName(path string) string {
	if dir, err := stateDir(); err == nil && filepath.Dir(path) == dir {
		return strings.TrimSuffix(filepath.Base(path), Suffix)
	}
	return path
}
