package web

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// The first line of a goroutine leak was the runtime's malloc.go (row A12 of the first users' findings): a
// group of goroutines is named by the innermost line of the program's own, and by who started it.
func TestRowA12GoroutinesAreNamedByTheProgramsOwnLine(t *testing.T) {
	t.Parallel()
	at := func(f, file string, line int) sample.Location {
		return sample.Location{Frames: []sample.Frame{{Func: f, File: file, Line: line}}}
	}
	got := goroutinesOf([]sample.GoroutineGroup{{State: "waiting", Reason: "chan receive", Count: 5000,
		Where: []sample.Location{at("runtime.gopark", "runtime/proc.go", 460), at("runtime.chanrecv", "runtime/chan.go", 667),
			at("main.wait", "/src/leak/main.go", 21)},
		CreatedAt: at("main.serve", "/src/leak/main.go", 13)}}, "example.org/leak")
	if len(got) != 1 || got[0].Own != "main.wait leak/main.go:21" && got[0].Own != "main.wait main.go:21" {
		t.Errorf("%+v", got)
	}
	if by := got[0].By; by != "main.serve leak/main.go:13" && by != "main.serve main.go:13" {
		t.Errorf("started by %q", by)
	}
}
