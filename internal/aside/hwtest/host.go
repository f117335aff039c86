package hwtest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed testdata/host.c
var hostSource []byte

// LibraryHost builds a program in C, called host, that loads the library which its
// first argument names, and calls its function Run. With a second argument it waits
// for a line on its input before. It skips the test where gcc is missing.
func LibraryHost(t testing.TB) string {
	t.Helper()
	Need(t, Program("gcc"))
	dir := t.TempDir()
	source, path := filepath.Join(dir, "host.c"), filepath.Join(dir, "host")
	if err := os.WriteFile(source, hostSource, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-o", path, source, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	return path
}
