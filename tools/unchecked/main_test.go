package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func gate(t *testing.T, exceptions, found string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "exceptions")
	if err := os.WriteFile(file, []byte(exceptions), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong, err := run([]string{file}, strings.NewReader(found))
	return strings.Join(wrong, "\n"), err
}

const closing = "internal/a/b.go:7:9:\tdefer f.Close()\n"

func TestAnErrorIsExceptedInItsPackageAlone(t *testing.T) {
	const exceptions = "# only read\ninternal/a: defer f\\.Close\\(\\)\n"
	if got, err := gate(t, exceptions, closing); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	other := "internal/c/b.go:7:9:\tdefer f.Close()"
	if got, err := gate(t, exceptions, closing+other); got != other || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	longer := "internal/a/b.go:7:9:\tdefer f.Close().x"
	if got, err := gate(t, exceptions, closing+longer); got != longer || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAnExceptionThatExceptsNothingIsNamed(t *testing.T) {
	got, err := gate(t, "# only read\ninternal/a: defer .*\ninternal/z: .*\n", closing)
	if !strings.Contains(got, "line 3") || strings.Contains(got, "line 2") || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAnExceptionHasAReason(t *testing.T) {
	for _, text := range []string{"internal/a: .*\n", "# a reason\n\ninternal/a: .*\n", "# a reason\ninternal/a: (\n"} {
		if got, err := gate(t, text, closing); err == nil {
			t.Errorf("%q is accepted, with %q", text, got)
		}
	}
}
