package fleet

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// strange are names as nobody would choose them.
var strange = []string{"", "checkout", "o'brien\\\"; DROP TABLE incident; --\n\x00", strings.Repeat("ü", 150), "\xff\xfe not UTF-8", "日本"}

func TestRowsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_790_000_000, 0).UTC()
	for _, name := range strange {
		want := []Incident{
			{Tenant: name, Service: name, At: at, Incident: ID{1, 2}, Limit: sample.Some[uint64](64 << 20), Line: 88, Written: at},
			{Pod: name, RecordingBytes: 1<<64 - 1},
		}
		got, err := Decode[Incident](Encode(nil, want...))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		valid := strings.ToValidUTF8(name, "\uFFFD")
		want[0].Tenant, want[0].Service, want[1].Pod = valid, valid, valid
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

func TestForeignBytesAreNoRows(t *testing.T) {
	t.Parallel()
	whole := Encode(nil, Point{Service: "shop", NumGC: sample.Some[uint64](3)})
	if n, err := Points.Count(whole); n != 1 || err != nil {
		t.Fatalf("%d rows, %v", n, err)
	}
	for cut := 1; cut < len(whole); cut++ {
		if _, err := Points.Count(whole[:cut]); !errors.Is(err, ErrRows) {
			t.Errorf("%d of %d bytes: %v", cut, len(whole), err)
		}
	}
	long := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01} // a string of 2^64-1 bytes
	if _, err := Incidents.Count(long); !errors.Is(err, ErrRows) {
		t.Errorf("a string without an end: %v", err)
	}
}

func FuzzRows(f *testing.F) {
	f.Add(Encode(nil, Incident{Service: "shop"}))
	f.Add(Encode(nil, Point{}, Point{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, table := range Tables() {
			_, _ = table.Count(b)
		}
		rows, err := Decode[Point](b)
		if err != nil {
			return
		}
		again, err := Decode[Point](Encode(nil, rows...))
		if err != nil || len(again) != len(rows) {
			t.Errorf("%d rows became %d: %v", len(rows), len(again), err)
		}
	})
}

func TestEveryTableHasAKeyAndAVersion(t *testing.T) {
	t.Parallel()
	for _, table := range Tables() {
		if len(table.key()) < 2 || table.key()[0] != "tenant" {
			t.Errorf("%s has the key %v", table.Name, table.key())
		}
		if _, ok := table.find(func(c column) bool { return c.version }); !ok {
			t.Errorf("%s has no version", table.Name)
		}
		if TableOf(table.Name) != table {
			t.Errorf("%s is not found by its name", table.Name)
		}
	}
}
