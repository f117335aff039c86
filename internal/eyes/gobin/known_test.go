package gobin

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// copied is this test's own executable, copied.
func copied(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t *testing.T, path string) *Binary {
	t.Helper()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if err := b.Supported(); err != nil {
		t.Skip(err)
	}
	return b
}

// What was found of a file serves the next who opens it, until it is written to.
func TestVariablesAreLookedForOnceAFile(t *testing.T) {
	path := copied(t)
	first, second := opened(t, path), opened(t, path)
	if len(first.symbols) == 0 || !maps.Equal(first.symbols, second.symbols) || first.FoundBy != second.FoundBy {
		t.Fatalf("%d variables and %d, found by %q and %q", len(first.symbols), len(second.symbols), first.FoundBy, second.FoundBy)
	}
	const mine = "runtime.only for this test"
	first.symbols[mine] = 1
	if third := opened(t, path); third.symbols[mine] != 1 {
		t.Error("a file that is open already was searched again")
	}
	if err := os.Chtimes(path, time.Time{}, time.Unix(1_700_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	if changed := opened(t, path); changed.symbols[mine] != 0 || len(changed.symbols) < len(first.symbols)-1 {
		t.Error("a file that was written to is taken for what it was")
	}
	if other := opened(t, copied(t)); other.symbols[mine] != 0 {
		t.Error("another file is taken for this one")
	}
}
