package moment

import (
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest/recorded"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestAMomentIsReadAsTheMarkCountedIt(t *testing.T) {
	path := recorded.Leak(t)
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := Load(r, path, "kill", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.View != "live" || s.Profile.HeapProfile == nil || s.Module() != "example.org/leaky" || s.Name() != "leaky" || s.WhyNot() != "" || len(s.Notes()) != 0 {
		t.Errorf("view %s of %s%s in %s, notes %q", s.View, s.Name(), s.WhyNot(), s.Module(), s.Notes())
	}
	if side := s.Side(); side.Moment != "kill" || side.Elapsed != 11 || side.PID != recorded.Subject.PID || side.Rate != 1 || !side.OfCgroup {
		t.Errorf("%+v", side)
	}
	base, err := s.Baseline(r)
	if err != nil || base == nil || !base.At.Before(s.Taken) || base.Counts[0].PubAllocs >= s.Profile.Counts[0].PubAllocs {
		t.Errorf("growth is counted from %+v, %v", base, err)
	}
}

func TestAMomentWithoutAProfileSaysWhereOneIs(t *testing.T) {
	path := recorded.Steps(t, "app", "b1", []sample.Frame{recorded.Line("a.Grow", 1)}, recorded.Step{-1}, recorded.Step{20})
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := Load(r, path, "1s", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Notes(); s.View != "none" || len(n) != 1 || n[0] != "app-1.hwm has no heap profile at 1.0 s or before; the nearest is at 2s" {
		t.Errorf("%s, %q", s.View, n)
	}
	if base, err := s.Baseline(r); base != nil || err != nil {
		t.Errorf("%+v, %v: growth from nothing", base, err)
	}
}
