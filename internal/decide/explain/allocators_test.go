package explain

import (
	"testing"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// profileOfStacks has one site for each stack, of which so many objects of a MiB
// were allocated; the rate is every allocation.
func profileOfStacks(sizes []sample.Bytes, allocs []uint64, stacks ...[]string) heapdiff.Profile {
	p := heapdiff.Profile{HeapProfile: &sample.HeapProfile{Rate: 1}}
	for i, stack := range stacks {
		s := sample.Site{Size: sizes[i]}
		for j, name := range stack {
			s.Stack = append(s.Stack, sample.Location{Address: uint64(j + 1), Frames: []sample.Frame{{Func: name, File: "f.go", Line: 7}}})
		}
		p.Sites = append(p.Sites, s)
		p.Counts = append(p.Counts, sample.BucketCounts{NowAllocs: allocs[i], PubAllocs: allocs[i]})
	}
	return p
}

func TestHalfOfAllIsTheNearestLineAboveIt(t *testing.T) {
	sizes := []sample.Bytes{mib, mib, mib}
	p := profileOfStacks(sizes, []uint64{30, 25, 45},
		[]string{"runtime.mallocgc", "example.org/a.leaf", "example.org/a.hash", "example.org/a.hash", "main.main"},
		[]string{"runtime.mallocgc", "example.org/a.hash", "main.main"},
		[]string{"runtime.mallocgc", "encoding/json.Unmarshal", "example.org/a.read", "main.main"})
	if got := halfOf(p, "example.org/a"); got == nil || got.Function != "example.org/a.hash" || got.Bytes != 55*mib || got.Share != 0.55 {
		t.Errorf("half of all: %+v, want hash with what it calls, once", got)
	}
	if got := halfOf(profileOfStacks(sizes[:1], []uint64{3}, []string{"runtime.mallocgc", "encoding/json.Unmarshal"}), "example.org/a"); got != nil {
		t.Errorf("half of all: %+v, where no code of its own allocated", got)
	}
}

func TestTheLargestObjectOfALine(t *testing.T) {
	p := profileOfStacks([]sample.Bytes{mib, 64 * mib, 32 * mib}, []uint64{9, 2, 1}, []string{"io.ReadAll"}, []string{"io.ReadAll"}, []string{"io.ReadAll"})
	if size, n := largestObject(heapdiff.Holder{Sites: []int{0, 1, 2}}, p, heapdiff.Now); size != 64*mib || n != 2 {
		t.Errorf("%d of %d bytes, want 2 of 64 MiB", n, size)
	}
}
