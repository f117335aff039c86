package heapdiff

import (
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// A helper's line is named for what it holds itself, and the caller's for what stays of it: where others had most of what
// the helper allocated. A function that keeps what it allocates for all of its callers alike is named as it is.
func TestACallerIsNamedInsteadOfItsHelper(t *testing.T) {
	buffer := at(10, "main.newBuffer")
	through := at(14, "main.grow")
	sites := []sample.Site{
		site(1<<20, buffer, at(20, "main.(*store).put")),
		site(1<<20, buffer, at(30, "main.load")),
		site(1<<20, buffer, at(40, "main.render")),
	}
	deep := []sample.Site{
		site(1<<20, buffer, through, at(20, "main.(*store).put")),
		site(1<<20, buffer, through, at(30, "main.load")),
		site(1<<20, buffer, at(40, "main.render")),
	}
	counts := func(put, load, render, freed uint64) []sample.BucketCounts {
		return []sample.BucketCounts{{PubAllocs: put}, {PubAllocs: load}, {PubAllocs: render, PubFrees: freed}}
	}
	earlier := &sample.HeapProfile{Rate: 1, Counts: counts(1, 10, 10, 10)}
	for name, c := range map[string]struct {
		sites        []sample.Site
		now          []sample.BucketCounts
		line, helper int
		bytes        int64
	}{
		"one caller keeps, another frees": {sites, counts(51, 10, 400, 400), 20, 10, 51 << 20},
		"a helper of a helper":            {deep, counts(51, 10, 400, 400), 14, 10, 61 << 20},
		"nobody else allocates much":      {sites, counts(51, 10, 10, 10), 10, 0, 61 << 20},
		"all callers keep":                {sites, counts(51, 60, 70, 20), 10, 0, 161 << 20},
		"the caller holds little of it":   {sites, counts(9, 10, 400, 400), 10, 0, 19 << 20},
	} {
		list := Holders(Profile{c.sites, &sample.HeapProfile{Rate: 1, Counts: c.now}}, earlier, Published, "main")
		h := list[0]
		if h.Frame.Line != c.line || h.Helper.Line != c.helper || h.InUse.Bytes != c.bytes {
			t.Errorf("%s: line %d through %d has %d MiB", name, h.Frame.Line, h.Helper.Line, h.InUse.Bytes>>20)
		}
		all, _ := Total(list)
		want := int64(0)
		for _, n := range c.now {
			want += int64(n.PubAllocs-n.PubFrees) << 20
		}
		if all.Bytes != want {
			t.Errorf("%s: the lines have %d bytes of %d", name, all.Bytes, want)
		}
	}
}
