package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestTheCommittedBundleIsMadeFromTheseSources(t *testing.T) {
	files, err := bundle("../" + ui)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 {
		t.Fatalf("%d files, want the script, the style and the icon", len(files))
	}
	for _, f := range files {
		zipped, err := os.Open(f.name + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		defer zipped.Close()
		z, err := gzip.NewReader(zipped)
		if err != nil {
			t.Fatal(err)
		}
		committed, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(committed, f.text) {
			t.Errorf("%s is stale: run go run -C tools ./page", filepath.Base(f.name))
		}
	}
}

func TestTheFilesOfThePageAreSmall(t *testing.T) {
	files, err := bundle("../" + ui)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if most := map[string]int{"page.js": 300_000, "page.css": 40_000, "icon.svg": 1000}[filepath.Base(f.name)]; len(f.text) > most {
			t.Errorf("%s has %d bytes", filepath.Base(f.name), len(f.text))
		}
	}
}
