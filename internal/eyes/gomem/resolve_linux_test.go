package gomem

import (
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

func TestWhatIsMissingIsNamedWithItsReason(t *testing.T) {
	bin, err := gobin.Open(hwtest.Build(t, "testdata/target", hwtest.BuildOptions{Toolchain: "go1.27.2"}))
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	layout, err := bin.Layout()
	if err != nil {
		t.Fatal(err)
	}
	r := &Resolver{bin: bin, Layout: layout}
	r.Addr("mheap_")
	r.Addr("allWords")
	r.Addr("allWords") // named once
	r.Offset("g", "colour")
	r.Size("h")
	const want = "go1.27.2: runtime.allWords: not in this program; runtime.g.colour: not in its layout; runtime.h: not in its layout"
	if err := r.Err(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	r.Size("h")
	r.Size("i")
	r.Size("j")
	r.Size("k")
	r.Size("l")
	const cut = "go1.27.2: runtime.h: not in its layout; runtime.i: not in its layout; runtime.j: not in its layout; and 2 more"
	if err := r.Err(); err == nil || err.Error() != cut {
		t.Errorf("%v, want %s", err, cut)
	}
	if err := r.Err(); err != nil {
		t.Errorf("said again: %v", err)
	}
}
