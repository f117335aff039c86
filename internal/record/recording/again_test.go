package recording

import (
	"os"
	"testing"
)

// A recording that is finished can be read by two at once, if it is still the one at its path.
func TestAFinishedRecordingIsOpenedAgain(t *testing.T) {
	k := newKept(t)
	k.point(t, 0, 1<<20, false)
	r := k.read(t)
	other, err := r.Again()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	first, err1 := r.Ticks()
	second, err2 := other.Ticks()
	if err1 != nil || err2 != nil || first != second || first != 1 {
		t.Errorf("%d (%v) and %d (%v) ticks", first, err1, second, err2)
	}
	whole, err := os.ReadFile(r.path)
	must(t, err)
	must(t, os.Remove(r.path))
	if other, err := r.Again(); err == nil {
		other.Close()
		t.Error("one that is gone was opened")
	}
	must(t, os.WriteFile(r.path, whole, 0o600))
	if other, err := r.Again(); err == nil {
		other.Close()
		t.Error("another file at its path was opened")
	}
}

func TestAnUnfinishedOrRedactedRecordingIsOpenedOnce(t *testing.T) {
	w, path := create(t, Meta{})
	defer w.Close()
	r := open(t, path)
	if other, err := r.Again(); err == nil {
		other.Close()
		t.Error("one that is being written was opened again")
	}
	k := newKept(t)
	k.point(t, 0, 1<<20, false)
	done := k.read(t)
	done.redactor = &redactor{}
	if other, err := done.Again(); err == nil {
		other.Close()
		t.Error("a redacted one was opened again")
	}
}
