package hwtest

import (
	"fmt"
	"os"
	"testing"
)

// Matrix is all of a list, of releases of Go from the oldest to the newest for example,
// under HIGHWATER_MATRIX=1, as make matrix runs it. Otherwise it is the first, the last and
// those of these indices: what is read of a release between two others differs from
// theirs in tables that are measured, not in code.
func Matrix[T any](all []T, also ...int) []T {
	if InMatrix() || len(all) < 3 {
		return all
	}
	out := []T{all[0]}
	for _, i := range also {
		out = append(out, all[i])
	}
	return append(out, all[len(all)-1])
}

// LeftToMatrix skips the test, with what it would do again, "boots a second kernel",
// unless HIGHWATER_MATRIX=1 is set.
func LeftToMatrix(t testing.TB, what string) {
	t.Helper()
	if !InMatrix() {
		skip(t, fmt.Errorf("%s: make test leaves it to make matrix", what))
	}
}

// InMatrix reports whether make matrix runs the tests.
func InMatrix() bool { return os.Getenv("HIGHWATER_MATRIX") == "1" }
