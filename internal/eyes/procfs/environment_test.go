package procfs

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func TestSettingsAreReadByName(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "7"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "PATH=/bin\x00DB_PASSWORD=secret\x00SERVICE=shop\x00SERVICE=later\x00BARE\x00EMPTY=\x00VERSION=v=1\x00"
	if err := os.WriteFile(filepath.Join(root, "7", "environ"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Environment(root, 7, "SERVICE", "VERSION", "BARE", "EMPTY", "MISSING")
	want := map[string]string{"SERVICE": "shop", "VERSION": "v=1", "EMPTY": ""}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Environment(root, 8, "SERVICE"); err == nil {
		t.Error("a process that there is not has an environment")
	}
}
