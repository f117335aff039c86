package gomem

import (
	"testing"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

func TestWhatIsMissingIsNamedWithItsReason(t *testing.T) {
	bin, err := gobin.Open(executable(t, newest))
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	layout, err := bin.Layout()
	if err != nil {
		t.Fatal(err)
	}
	r := &resolver{bin: bin, layout: layout}
	r.addr("mheap_")
	r.addr("allWords")
	r.addr("allWords") // named once
	r.offset("g", "colour")
	r.size("h")
	const want = "go1.27.2: runtime.allWords: not in this program; runtime.g.colour: not in its layout; runtime.h: not in its layout"
	if err := r.err(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	r.size("h")
	r.size("i")
	r.size("j")
	r.size("k")
	r.size("l")
	const cut = "go1.27.2: runtime.h: not in its layout; runtime.i: not in its layout; runtime.j: not in its layout; and 2 more"
	if err := r.err(); err == nil || err.Error() != cut {
		t.Errorf("%v, want %s", err, cut)
	}
	if err := r.err(); err != nil {
		t.Errorf("said again: %v", err)
	}
}
