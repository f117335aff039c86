// Package need skips tests where something is missing, as the tests of Highwater
// itself do: the reason goes to the file that HIGHWATER_SKIPS names, and under
// HIGHWATER_NO_SKIP=1 it is a failure.
package need

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Permission skips the test if err is that this user may not do what it needs,
// or that this system cannot. Any other error fails it.
func Permission(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrPermission) && !errors.Is(err, errors.ErrUnsupported):
		t.Fatal(err)
	case os.Getenv("HIGHWATER_NO_SKIP") == "1":
		t.Fatalf("may not be skipped here: %v", err)
	default:
		note(t, err)
		t.Skipf("SKIP-REASON: %v", err)
	}
}

// Matrix reports whether make matrix runs the tests. Where it does not, what is left out is noted, "the other faults of shop".
func Matrix(t testing.TB, leftOut string) bool {
	t.Helper()
	in := os.Getenv("HIGHWATER_MATRIX") == "1"
	if !in {
		note(t, fmt.Errorf("%s: make test leaves them to make matrix", leftOut))
	}
	return in
}

func note(t testing.TB, reason error) {
	path := os.Getenv("HIGHWATER_SKIPS")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s: %s\n", t.Name(), strings.ReplaceAll(reason.Error(), "\n", " "))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}
