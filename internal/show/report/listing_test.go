package report

import (
	"bytes"
	"os"
	"testing"

	"github.com/highwater-go/highwater/internal/answer/listing"
	"github.com/highwater-go/highwater/internal/answer/moment"
)

func TestAListingIsPrintedAsAgreed(t *testing.T) {
	amounts := func(held, grew, allocated, err int64) listing.Amounts {
		return listing.Amounts{Held: held * mebi, Growth: grew * mebi, Allocated: allocated * mebi, Error: err * mebi}
	}
	put := listing.Function{Function: "example.org/shop/cache.(*Map).Put", File: "/b/cache.go", Start: 20, Path: "/src/shop/cache.go",
		Amounts: amounts(40, 30, 90, 4)}
	for i := range 24 {
		put.Lines = append(put.Lines, listing.Line{Line: 20 + i, Text: "\tm.step()"})
	}
	put.Lines[15].Amounts = put.Amounts
	lost := listing.Function{Function: "example.org/shop/load.Read", File: "example.org/shop/load.go", Start: 5,
		Problem: "example.org/shop/load.go: not on this machine", Amounts: amounts(2, 0, 2, 1),
		Lines: []listing.Line{{Line: 9, Amounts: amounts(2, 0, 2, 1)}}}
	l := &listing.Listing{Side: moment.Side{Moment: "kill", Elapsed: 41}, Functions: []listing.Function{put, lost}, Others: []string{"example.org/shop/x.Put"},
		Notes: []string{"/src/shop/cache.go was changed after the program began: its lines may have moved"}}
	var b bytes.Buffer
	if err := ListingText(&b, l, Options{Next: "highwater diff shop-1"}); err != nil {
		t.Fatal(err)
	}
	const path = "testdata/listing.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || b.String() != string(want) {
		t.Errorf("%s differs (UPDATE=1 rewrites), %v\n--- got\n%s--- want\n%s", path, err, b.String(), want)
	}
}
