package report

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/answer/compare"
	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const mebi = 1 << 20

func diffOf(before, after, err int64) compare.Delta {
	return compare.Delta{Before: before * mebi, After: after * mebi, Change: (after - before) * mebi, Error: err * mebi}
}

func lineOf(name string, number int, d compare.Delta) compare.Line {
	return compare.Line{Place: sample.Place{Function: "example.org/shop/" + name, File: "/src/shop/" + strings.ReplaceAll(name, ".", "/") + ".go", Line: number},
		Delta: d}
}

func twoMoments() *compare.Diff {
	return &compare.Diff{Schema: compare.Schema, SameProcess: true,
		Before: moment.Side{Recording: "shop-1.hwm", Program: "shop", PID: 7, Moment: "time", Elapsed: 10, View: "published", OfCgroup: true},
		After:  moment.Side{Recording: "shop-1.hwm", Program: "shop", PID: 7, Moment: "kill", Elapsed: 41, View: "live", OfCgroup: true},
		Total:  diffOf(72, 256, 0), Heap: diffOf(60, 210, 6),
		Ledger: []compare.Row{{Name: "live Go heap", Delta: diffOf(60, 210, 0)}, {Name: "page cache", Delta: diffOf(2, 30, 0), Reclaimable: true},
			{Name: "kernel", Delta: diffOf(4, 4, 0)}, {Name: "unexplained", Delta: diffOf(6, 12, 0)}},
		Grew:   []compare.Line{lineOf("upload.Parse", 172, diffOf(0, 165, 6)), lineOf("cache.Put", 57, diffOf(20, 25, 2))},
		Shrank: []compare.Line{lineOf("load.Read", 9, diffOf(20, 0, 3))},
		Same:   []compare.Line{lineOf("index.Build", 31, diffOf(20, 20, 0))},
		Notes:  []string{"before: in use by the program's own profile; after: what was reachable"}}
}

func diffText(t *testing.T, d *compare.Diff, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := DiffText(&b, d, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestADiffIsPrintedAsAgreed(t *testing.T) {
	got := diffText(t, twoMoments(), Options{Next: "highwater explain shop-1"})
	const path = "testdata/diff.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s differs (UPDATE=1 rewrites), %v\n--- got\n%s--- want\n%s", path, err, got, want)
	}
}

func TestADiffIsAtMost30LinesOfItsWidth(t *testing.T) {
	d := twoMoments()
	for i := range 40 {
		d.Ledger = append([]compare.Row{{Name: fmt.Sprint("row ", i), Delta: diffOf(1, 2, 0)}}, d.Ledger...)
		d.Grew = append(d.Grew, lineOf(strings.Repeat("averylongpackage/", 6)+"F", i, diffOf(1, 9, 1)))
		d.Shrank = append(d.Shrank, lineOf("x.F", i, diffOf(9, 1, 1)))
		d.Same = append(d.Same, lineOf("y.F", i, diffOf(9, 9, 1)))
	}
	d.Notes = append(d.Notes, strings.Repeat("a long note ", 20), strings.Repeat("another ", 30))
	d.After.Program, d.Before.Recording = strings.Repeat("program", 9), strings.Repeat("recording", 9)
	for _, width := range []int{80, 100, 140} {
		page := strings.Split(strings.TrimSuffix(diffText(t, d, Options{Width: width, Next: "highwater explain"}), "\n"), "\n")
		if len(page) > lines {
			t.Errorf("%d columns: %d lines", width, len(page))
		}
		for _, line := range page {
			if columns(line) > width {
				t.Errorf("%d columns: %d: %s", width, columns(line), line)
			}
		}
	}
}
