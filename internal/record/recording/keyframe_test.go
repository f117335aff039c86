package recording

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestKeyFramesAreGivenUpBeforeTheyAreTooMany(t *testing.T) {
	w, path := create(t, meta)
	w.keepMost = 250
	const processes, sites, rounds = 9, 50, 3
	want := map[sample.ProcessKey]*sample.HeapProfile{}
	for round := range rounds {
		for i := range processes {
			key := sample.ProcessKey{PID: 100 + i, Start: 7}
			if round == 0 {
				must(t, w.Sites(key, 0, makeSites(sites)))
			}
			for k := range 2 {
				h := profile(9*round+i+k, make([]sample.BucketCounts, sites))
				must(t, w.Heap(key, h))
				want[key] = h
			}
			if w.kept > w.keepMost || w.kept != sites*len(w.framed) {
				t.Fatalf("%d counts of %d processes are kept", w.kept, len(w.framed))
			}
		}
	}
	must(t, w.Close())
	r := open(t, path)
	for key, h := range want {
		list, err := r.Profiles(key)
		must(t, err)
		if len(list) != 2*rounds {
			t.Fatalf("process %d: %d profiles", key.PID, len(list))
		}
		got, err := r.Profile(list[len(list)-1].ID)
		must(t, err)
		equal(t, "the last profile", got, h)
	}
	if n, err := r.db.integer("SELECT count(*) FROM heap_profile WHERE base IS NULL"); err != nil || n != processes*rounds {
		t.Errorf("%d key frames, %v; want one of each process in each round", n, err)
	}
}

func TestAProcessAloneKeepsItsKeyFrameHoweverLarge(t *testing.T) {
	w, _ := create(t, meta)
	w.keepMost = 10
	must(t, w.Sites(server, 0, makeSites(50)))
	for i := range 4 {
		must(t, w.Heap(server, profile(i, make([]sample.BucketCounts, 50))))
	}
	if len(w.framed) != 1 || w.framed[0].frame.shared != 4 {
		t.Errorf("%d frames", len(w.framed))
	}
}
