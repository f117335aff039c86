package gostats

import (
	"bytes"
	"io"
	"testing"

	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

func TestNeighboursAreGatheredInOneRead(t *testing.T) {
	data := make([]byte, 64<<10)
	data[8], data[4000], data[60000] = 1, 2, 3
	from := above{bytes.NewReader(data)}
	var g gather
	g.add(0x10000+60000, 8)
	g.add(0x10000+4000, 8)
	g.add(0x10000+8, 8)
	g.plan()
	if err := g.read(gomem.NewMemory(from)); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[uint64]uint64{8: 1, 4000: 2, 60000: 3} {
		if got := gomem.Word(g.buf, g.at(0x10000+at)); got != want {
			t.Errorf("at %d: %d, want %d", at, got, want)
		}
	}
	if len(g.reads.Pieces) != 2 {
		t.Errorf("%d reads", len(g.reads.Pieces))
	}
}

// above is a memory that begins at 0x10000.
type above struct{ io.ReaderAt }

func (a above) ReadAt(p []byte, off int64) (int, error) { return a.ReaderAt.ReadAt(p, off-0x10000) }
