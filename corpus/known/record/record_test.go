package main

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/corpus/truth"
)

func all(t *testing.T, group string, only ...string) []*program {
	t.Helper()
	list, err := choose("..", group, only)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTheFirstProgramsAreSealedByTheirNames(t *testing.T) {
	n := 0
	for _, p := range all(t, "") {
		if !slices.Contains(groups, p.Group) {
			t.Errorf("%s is in group %q, not in one of %q", p.Name, p.Group, groups)
		}
		sum := sha256.Sum256([]byte(p.Name))
		even := strings.Contains("02468ace", hex.EncodeToString(sum[:])[63:])
		if p.Group != "sealed 2" && p.Group != "sealed 3" && even != (p.Group == "sealed") {
			t.Errorf("%s is in group %q, and the last digit of its name's sum says sealed: %v", p.Name, p.Group, even)
		}
		n++
	}
	if n < 40 {
		t.Errorf("%d programs, fewer than 40", n)
	}
}

func TestAProgramIsRunFaultyAndRepairedWithRoomAndUnderItsLimit(t *testing.T) {
	runs, err := runsOf(all(t, "", "memdbwatch"))
	if err != nil || len(runs) != 4 {
		t.Fatalf("%d runs, %v; want 4", len(runs), err)
	}
	by := map[string]*truth.Truth{}
	for _, r := range runs {
		by[r.Name] = r
	}
	before, after := by["memdbwatch-before-limit"], by["memdbwatch-after-limit"]
	if before == nil || after == nil || by["memdbwatch-before"] == nil || by["memdbwatch-after"] == nil {
		t.Fatalf("the runs are %v", by)
	}
	if !before.Faulty || before.Classes[0] != "goroutine-leak" || before.Trend != "growing" || before.Run.Limit != 104<<20 || !before.NeedsLine {
		t.Errorf("of the faulty one under its limit: %+v", before)
	}
	if after.Faulty || after.Classes[0] != "healthy" || len(after.Lines) != 0 || after.Run.Limit != 104<<20 {
		t.Errorf("of the repaired one under its limit: %+v", after)
	}
	if r := by["memdbwatch-before"].Run; r.Limit != 0 || r.Command != "-for 25s" {
		t.Errorf("with room: %+v", r)
	}
}

func TestWhatComesAndGoesHasNoTrendWhenItIsKilled(t *testing.T) {
	runs, err := runsOf(all(t, "", "wslimit"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		want := map[string]string{"wslimit-before": "comes-and-goes"}[r.Name]
		if want == "" {
			want = "unknown"
		}
		if r.Trend != want {
			t.Errorf("%s: %s, want %s", r.Name, r.Trend, want)
		}
	}
}

func TestAGroupThatThereIsNotIsRefusedWithThoseThereAre(t *testing.T) {
	_, err := choose("..", "sealed 9", nil)
	if err == nil || !strings.Contains(err.Error(), "sealed 2") {
		t.Errorf("got %v", err)
	}
	if _, err := choose("..", "sealed 2", []string{"jwtdots"}); err == nil {
		t.Error("a program of another group was chosen")
	}
}

func TestALimitIsInMebibytes(t *testing.T) {
	for text, want := range map[string]int64{"192MiB": 192 << 20, "": 0, "192": 0, "0MiB": 0, "1GiB": 0} {
		if got, err := mebibytes(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}
