package app

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/decide/trial"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// What a variant runs may be a path, and a path may have an = in it.
func TestATrialIsOfARecordingOrOfVariants(t *testing.T) {
	for arg, want := range map[string]bool{
		"uploads-3": true, "./uploads-3.hwm": true, "/kept/limit=1/uploads.hwm": true,
		"base=./server": false, "base=/srv/bin/server -v": false, "limit=GOMEMLIMIT=200MiB ./server": false, "base=server": false,
	} {
		if got := Recorded([]string{arg}, -1); got != want {
			t.Errorf("%q is of a recording: %v, want %v", arg, got, want)
		}
	}
	if Recorded([]string{"./server"}, 0) {
		t.Error("what follows -- is a command")
	}
}

// Where little was seen of a run, its class may be another one than that of the run before.
func TestAProofHoldsForEachCauseThatTheBaseHasShown(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	tr := &Try{stage: &stage{folder: t.TempDir()}}
	tr.variants = []variant{newVariant("base", trial.Command{Args: []string{"./server"}}), newVariant("new", trial.Command{Args: []string{"./server-new"}})}
	run := func(name, cause string, ended trial.Ended) trial.Run {
		w, err := recording.Create(filepath.Join(tr.folder, name+Suffix), recording.Meta{At: time.Unix(1, 0), CPUs: 1,
			More: map[string]string{metaFingerprint: cause}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return trial.Run{Recording: name + Suffix, Ended: ended}
	}
	for _, r := range []trial.Run{run("first", "hw-aaaaaa", trial.Killed), run("one", "hw-bbbbbb", trial.Killed), run("two", "", trial.Killed),
		run("three", "hw-aaaaaa", trial.Killed), run("four", "hw-cccccc", trial.Finished)} {
		tr.noteCause(r)
	}
	if want := []string{"hw-aaaaaa", "hw-bbbbbb"}; !slices.Equal(tr.causes, want) {
		t.Fatalf("causes %q, want %q", tr.causes, want)
	}
	limit := 64 * sample.MiB
	a := &trial.Answer{Setup: trial.Setup{Limit: limit}, Variants: []trial.Tested{{Variant: tr.variants[0].Variant}, {Variant: tr.variants[1].Variant}}}
	a.Variants[1].State, a.Variants[1].Why = trial.Proved, "proved: 0 of 6 killed"
	for range 2 { // a second trial takes the place of the first
		if err := tr.remember(a); err != nil {
			t.Fatal(err)
		}
	}
	tried := readTried()
	if len(tried.Tried) != 2 {
		t.Errorf("%d are kept, want one for each cause: %+v", len(tried.Tried), tried.Tried)
	}
	for cause, want := range map[string]string{"hw-aaaaaa": "proved", "hw-bbbbbb": "proved", "hw-cccccc": "untested"} {
		e := &explain.Answer{Verdict: explain.Verdict{Fingerprint: cause}, Outcome: explain.Outcome{LimitBytes: &limit},
			Fixes: []explain.Fix{{Kind: "code", State: "untested"}}}
		if tried.tell(e); e.Fixes[0].State != want {
			t.Errorf("the fix of %s is %s, want %s", cause, e.Fixes[0].State, want)
		}
	}
}
