package recording

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Rows are added, nothing else changes, and it is as sound as before.
func TestAFinishedRecordingKeepsWhatBecameOfItsFixes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.hwm")
	w, err := Create(path, Meta{At: time.Unix(1, 0), CPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	one := Tried{At: time.Unix(9, 0).UTC(), Fix: "GOMEMLIMIT=200MiB", Kind: "config", Name: "a", Limit: 256 * sample.MiB, Runs: 3, Lost: 1, Why: "killed 1 of 3"}
	if err := AddTried(path, []Tried{one}); !errors.Is(err, ErrUnderWay) {
		t.Errorf("a recording that is being written is added to: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := triedOf(t, path); len(got) != 0 {
		t.Errorf("%+v before anything was tried", got)
	}
	two := one
	two.Fix, two.Lost, two.Why = "a limit of 400 MiB", 0, "3 of 3 survived"
	for _, list := range [][]Tried{{one}, {two, one}} {
		if err := AddTried(path, list); err != nil {
			t.Fatal(err)
		}
	}
	got := triedOf(t, path)
	if len(got) != 3 || got[0].Fix != one.Fix || got[1].Why != two.Why || got[2].Limit != one.Limit || !got[1].At.Equal(one.At) || got[0].Lost != 1 {
		t.Errorf("%+v", got)
	}
	if err := Verify(path); err != nil {
		t.Error(err)
	}
	if err := AddTried(filepath.Join(t.TempDir(), "none.hwm"), []Tried{one}); err == nil {
		t.Error("a recording that is not there is added to")
	}
}

func triedOf(t *testing.T, path string) []Tried {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list, err := r.Tried()
	if err != nil {
		t.Fatal(err)
	}
	return list
}
