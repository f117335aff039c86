package heapgraph

import (
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// A map of so many tables that its directory carries a type, and whose header is on a stack, is told as that map with its
// entries. (To Go 1.23 a map has no tables, and one whose header is on a stack is not told.)
func TestALargeMapOfAStackIsToldAsAMap(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	a := startShapes(t, hwtest.BuildOptions{Toolchain: toolchains[len(toolchains)-1]}, "largemap", "off").analyze(t)
	var found []string
	for _, c := range a.Objects.Collections {
		if c.Kind == "map" && c.Len == 100_000 {
			found = append(found, a.Objects.Types.Name(a.Objects.TypeOf(c.Object)))
		}
	}
	if len(found) != 1 || found[0] != "map[main.key]*main.verdict directory" {
		t.Errorf("maps with 100,000 entries: %q", found)
	}
}
