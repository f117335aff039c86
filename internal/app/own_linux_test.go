package app

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/files/regular"
)

// The state directory may be another's: root's highwater with a user's HOME.
func TestAPipeInTheStateDirectoryKeepsNobodyWaiting(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_CONFIG_HOME", state)
	if err := os.Mkdir(filepath.Join(state, "highwater"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.json", "tried.json", "causes.json", "own.key"} {
		if err := syscall.Mkfifo(filepath.Join(state, "highwater", name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, notes := ReadNotes()
	_, causes := ownCauses()
	_, key := ownKey(true)
	for name, err := range map[string]error{"notes": notes, "causes": causes, "key": key} {
		if !errors.Is(err, regular.ErrNot) {
			t.Errorf("%s: %v, want %v", name, err, regular.ErrNot)
		}
	}
	if tried := readTried(); len(tried.Tried) != 0 {
		t.Errorf("%+v", tried)
	}
}
