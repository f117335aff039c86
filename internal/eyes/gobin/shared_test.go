package gobin

import "testing"

// Processes of one build share what was read of their file, each for as long as it needs it,
// and what one of them has loaded is not the others'.
func TestBinariesOfOneFileShareItUntilTheLastIsClosed(t *testing.T) {
	path := copied(t)
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Supported(); err != nil {
		t.Skip(err)
	}
	pc := first.table.text + uint64(first.table.entryOff(first.table.n/2))
	want := first.Frames(nil, pc)
	second, other := opened(t, path), opened(t, copied(t))
	if second.file != first.file || second.table != first.table {
		t.Error("a file that is open was read again")
	}
	if other.file == first.file {
		t.Error("another file is taken for this one")
	}
	for range 2 { // the second time from what is kept
		for _, b := range []*Binary{first, second} {
			if got := b.Locations(nil, []uint64{pc + 1}); len(want) == 0 || len(got) != 1 || got[0].Frames[len(got[0].Frames)-1].Func != want[len(want)-1].Symbol {
				t.Errorf("%v at %#x, want %v", got, pc, want)
			}
		}
	}
	first.added.list.Store(&[]*table{{text: 1, end: 2}})
	if len(second.added.tables()) != 0 {
		t.Error("what one process has loaded is another's")
	}
	for range 2 { // closing twice does not take the file from the other
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := second.Frames(nil, pc); len(got) != len(want) || got[0] != want[0] {
		t.Errorf("%v after the first was closed, want %v", got, want)
	}
	second.Close()
	if third := opened(t, path); third.file == first.file {
		t.Error("a file that nobody has open is still mapped")
	}
}

// What was readied for a build is there for all its processes at the same addresses.
func TestWhatWasReadiedForABuildIsShared(t *testing.T) {
	type readied struct{ n int }
	path, made := copied(t), 0
	ready := func() (*readied, error) {
		made++
		return &readied{made}, nil
	}
	ask := func(b *Binary, bias uint64) int {
		t.Helper()
		r, err := Shared(b, bias, ready)
		if err != nil {
			t.Fatal(err)
		}
		return r.n
	}
	first, second, other := opened(t, path), opened(t, path), opened(t, copied(t))
	if ask(first, 0) != 1 || ask(second, 0) != 1 {
		t.Error("the same file was readied twice")
	}
	if ask(other, 0) != 2 || ask(second, 0x1000) != 3 || ask(first, 0) != 1 {
		t.Error("another file, or other addresses, have what is not theirs")
	}
}
