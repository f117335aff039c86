package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTheCommittedBundleIsMadeFromTheseSources(t *testing.T) {
	files, err := bundle("../" + ui)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Fatalf("%d files, want the script and the style", len(files))
	}
	for _, f := range files {
		committed, err := os.ReadFile(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(committed, f.text) {
			t.Errorf("%s is stale: run go run -C tools ./page", filepath.Base(f.name))
		}
	}
}

func TestTheScriptIsUnder300KB(t *testing.T) {
	files, err := bundle("../" + ui)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if len(f.text) > 300_000 {
			t.Errorf("%s has %d bytes", filepath.Base(f.name), len(f.text))
		}
	}
}
