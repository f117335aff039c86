package main

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// of is a release of a program that is a text.
func of(t *testing.T) *release {
	t.Helper()
	r := &release{to: t.TempDir(), work: t.TempDir(), version: "v1.2.3", at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), targets: []target{{"linux", "amd64"}}}
	if err := os.MkdirAll(filepath.Dir(r.program(r.targets[0])), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.program(r.targets[0]), []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

// Times of the build itself would make two builds differ. The files here are made now.
func TestAllTimesInAPackageAreTheCommits(t *testing.T) {
	r := of(t)
	if err := r.packages(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(r.name("_linux_amd64.apk"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f) // the parts of an apk are one tar
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for list := tar.NewReader(unpacked); ; seen++ {
		h, err := list.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if now := time.Since(h.ModTime) < 24*time.Hour; now {
			t.Errorf("%s has the time %s", h.Name, h.ModTime)
		}
	}
	if seen < 3 {
		t.Errorf("%d files in the apk", seen)
	}
}

func TestATargetThatIsNotPublishedIsRefused(t *testing.T) {
	for _, list := range []string{"plan9/amd64", "linux", "linux/amd64,", "windows/arm64"} {
		if got, err := targetsOf(list); err == nil {
			t.Errorf("%q gave %v", list, got)
		}
	}
	if got, err := targetsOf(""); err != nil || len(got) != len(published) {
		t.Errorf("%v, %v", got, err)
	}
}
