package gomem

import (
	"slices"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestMinorVersions(t *testing.T) {
	for version, want := range map[string]int{
		"go1.24": 24, "go1.26.8": 26, "go1.27rc1": 27, "go1.25.7 X:nogreenteagc": 25,
		"devel go1.28-abc": -1, "go2.1": -1, "": -1, "go1.": -1,
	} {
		got, ok := minorOf(version)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", version, got, want)
		}
	}
}

func TestRangesOfOneKindAreJoinedWhereTheyTouch(t *testing.T) {
	const objects, stacks = sample.RangeObjects, sample.RangeStacks
	got := join([]sample.PageRange{
		{Start: 30, End: 40, Kind: objects},
		{Start: 10, End: 20, Kind: objects},
		{Start: 20, End: 30, Kind: stacks},
		{Start: 20, End: 24, Kind: objects},
		{Start: 12, End: 14, Kind: objects},
	})
	want := []sample.PageRange{
		{Start: 10, End: 24, Kind: objects},
		{Start: 20, End: 30, Kind: stacks},
		{Start: 30, End: 40, Kind: objects},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// holes is a memory of a few pieces with nothing between them.
type holes map[int64][]byte

func (h holes) ReadAt(p []byte, off int64) (int, error) {
	for start, data := range h {
		if off >= start && off+int64(len(p)) <= start+int64(len(data)) {
			return copy(p, data[off-start:]), nil
		}
	}
	return 0, errHole
}

var errHole = &holeError{}

type holeError struct{}

func (*holeError) Error() string { return "nothing there" }

func TestRecordsOnBothSidesOfAHoleAreRead(t *testing.T) {
	first, second := make([]byte, 100), make([]byte, 100)
	first[92], second[0] = 1, 2
	m := Memory{holes{0x1000: first, 0x1100: second}}
	var got []byte
	records := newRecordReader()
	missed := records.Each(m, []uint64{0x1000 + 92, 0x1080, 0x1100}, 8, func(_ int, b []byte) {
		got = append(got, b[0])
	})
	if missed != 1 || !slices.Equal(got, []byte{1, 2}) {
		t.Errorf("read %v, missed %d", got, missed)
	}
}

// pieced counts how often it is asked for pieces.
type pieced struct {
	holes
	calls, pieces int
}

func (m *pieced) ReadPieces(p []byte, pieces [][2]uint64) error {
	m.calls, m.pieces = m.calls+1, m.pieces+len(pieces)
	return Memory{m.holes}.ReadPieces(p, pieces)
}

func TestRecordsFarApartAreReadAtOnce(t *testing.T) {
	const n, size, far = 1000, 100, 20 << 10
	from := &pieced{holes: holes{}}
	var addrs []uint64
	for i := range uint64(n) {
		at := 0x100000 + i*far
		record := make([]byte, 2*size)
		record[0], record[size/2] = byte(i), byte(i+1)
		from.holes[int64(at)] = record
		addrs = append(addrs, at, at+size/2) // they overlap
	}
	next := 0
	records := newRecordReader()
	missed := records.Each(Memory{from}, addrs, size, func(i int, b []byte) {
		if i != next || len(b) != size || b[0] != byte((i+1)/2) {
			t.Fatalf("record %d is the %d-th that was read, and begins with %d", next, i, b[0])
		}
		next++
	})
	if want := n*size*3/2/WindowSize + 1; missed != 0 || next != 2*n || from.calls > want || from.pieces > n+want {
		t.Errorf("read %d records by %d calls for %d pieces, missed %d", next, from.calls, from.pieces, missed)
	}
}
