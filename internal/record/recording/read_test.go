package recording

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func columnsOf(t testing.TB, r *Reader, table string) (list []string) {
	t.Helper()
	must(t, r.db.query(func(row []driver.Value) error {
		list = append(list, str(row[0]))
		return nil
	}, "SELECT name FROM pragma_table_info(?1) ORDER BY cid", table))
	return list
}

func FuzzNumbersAreReadAsJSONReadsThem(f *testing.F) {
	for _, s := range []string{"[]", "[1]", "[1,22,333]", "[1,]", "[,1]", "[1", "", "[01]", "[99999999999999999999999]", "[-1]", "[1,,2]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got []uint64
		if eachNumber(s, func(v uint64) { got = append(got, v) }) != nil {
			return
		}
		var want []uint64
		if json.Unmarshal([]byte(s), &want) != nil {
			return // leading zeros and overflow: no Writer makes them
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%q: %v, want %v", s, got, want)
			}
		}
	})
}

func FuzzProfileColumnsOfAnyBytes(f *testing.F) {
	enc, err := newEncoder()
	if err != nil {
		f.Fatal(err)
	}
	dec, err := newDecoder()
	if err != nil {
		f.Fatal(err)
	}
	counts := profile(1, nil).Counts
	f.Add(packCounts(enc, counts, nil), 0)
	f.Add(enc.EncodeAll([]byte{2, 4, 6, 8}, nil), 1)
	f.Add(packNumbers(enc, []uint64{1, 2, 1 << 60}), 3)
	f.Add([]byte{}, 1<<21)
	f.Fuzz(func(t *testing.T, blob []byte, n int) {
		if n < 0 || n > maxSites {
			return
		}
		if c, err := unpackCounts(dec, blob, n, nil); err == nil {
			again, err := unpackCounts(dec, packCounts(enc, c, nil), n, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range c {
				if c[i] != again[i] {
					t.Fatalf("site %d: %v, then %v", i, c[i], again[i])
				}
			}
		}
		_, _ = unpackNumbers(dec, blob)
	})
}

func TestAFileThatWasTakenAwayWhileItIsWrittenIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "away.hwm")
	w, err := Create(path, meta)
	must(t, err)
	defer w.Close()
	must(t, os.Remove(path))
	if r, err := Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", r, err)
	}
}
