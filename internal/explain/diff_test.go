package explain

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
)

// step is one moment of a recorded program: objects of 1 MiB that are held on its
// lines, -1 where no profile was read.
type step []int64

// recordSteps writes a recording with a moment a second.
func recordSteps(t *testing.T, name, build string, lines []sample.Frame, steps ...step) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+"-1.hwm")
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := recording.Create(path, recording.Meta{At: began})
	put(err)
	put(w.Program(sample.Program{Key: subject, Name: name, HeapProfile: sample.HeapProfileOn, Go: &sample.GoProgram{Version: "go1.26.8", Module: "example.org/app", BuildID: build}}))
	put(w.Event(sample.Event{At: began, Kind: sample.EventStart, Process: subject}))
	var sites []sample.Site
	for i, f := range lines {
		sites = append(sites, sample.Site{Size: mib, Stack: []sample.Location{{Address: uint64(i + 1), Frames: []sample.Frame{f}}}})
	}
	put(w.Sites(subject, 0, sites))
	for i, held := range steps {
		at := began.Add(time.Duration(i+1) * time.Second)
		var total sample.Bytes
		h := &sample.HeapProfile{At: at, Rate: 512 << 10}
		for _, n := range held {
			total += sample.Bytes(n) * mib
			h.Counts = append(h.Counts, sample.BucketCounts{PubAllocs: uint64(n), NowAllocs: uint64(n)})
		}
		if slices.Contains(held, -1) {
			h, total = nil, 0
		}
		p := sample.ProcessMoment{Key: subject, Profile: h, Resident: &sample.Resident{Total: total + 10*mib},
			Go:        &sample.Runtime{HeapMarked: total, HeapLive: total, HeapInUse: total, TotalAlloc: total},
			Residency: &sample.Residency{GoKnown: true, Anon: total + 10*mib, GoObjects: total, GoRuntime: 10 * mib}}
		cg := &sample.Cgroup{Usage: total + 30*mib, Stat: &sample.CgroupStat{Anon: total + 10*mib, PageCache: 20 * mib}}
		put(w.Point(&sample.Point{At: at, Cgroup: cg, Processes: []sample.Process{{Key: subject, Resident: p.Resident, Go: p.Go}}}))
		put(w.Moment(&sample.Moment{At: at, Kind: sample.MomentMax, Cgroup: cg, Processes: []sample.ProcessMoment{p}}))
	}
	put(w.Close())
	return path
}

func sideOf(t *testing.T, path, at string) *Side {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := LoadSide(r, path, at, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func appLine(function string, number int) sample.Frame {
	return sample.Frame{Func: "example.org/app/" + function, File: "/src/" + function + ".go", Line: number}
}

func TestTwoMomentsDifferByRowsAndByLines(t *testing.T) {
	path := recordSteps(t, "app", "b1", []sample.Frame{appLine("a.Grow", 1), appLine("b.Keep", 2), appLine("c.Free", 3), appLine("d.Idle", 4)},
		step{10, 90, 60, 4}, step{100, 90, 10, 4})
	d := Compare(sideOf(t, path, "1s"), sideOf(t, path, "last"))
	if !d.SameProcess || d.Before.View != "published" || len(d.Notes) != 1 {
		t.Errorf("%+v %q", d.Before, d.Notes)
	}
	names := func(lines []DiffLine) (out []string) {
		for _, l := range lines {
			out = append(out, ShortFunc(l.Function))
			if l.Change != l.After-l.Before {
				t.Errorf("%+v", l)
			}
		}
		return out
	}
	if g, s, same := names(d.Grew), names(d.Shrank), names(d.Same); !slices.Equal(g, []string{"a.Grow"}) || !slices.Equal(s, []string{"c.Free"}) || !slices.Equal(same, []string{"b.Keep", "d.Idle"}) {
		t.Errorf("grew %q, shrank %q, same %q", g, s, same)
	}
	if d.Total.Change != int64(40*mib) {
		t.Errorf("total %+v", d.Total)
	}
	var sum int64
	for _, r := range d.Ledger {
		sum += r.Change
	}
	if last := d.Ledger[len(d.Ledger)-1]; sum != d.Total.Change || last.Name != sample.RowUnexplained || d.Ledger[0].Change != int64(40*mib) {
		t.Errorf("rows sum to %d of %d: %+v", sum, d.Total.Change, d.Ledger)
	}
	back := Compare(sideOf(t, path, "last"), sideOf(t, path, "1s"))
	if len(back.Shrank) != 1 || back.Shrank[0].Change != -d.Grew[0].Change || back.Total.Change != -d.Total.Change {
		t.Errorf("the other way round: %+v", back.Shrank)
	}
}

func TestAComparisonSaysWhatItCannotCompare(t *testing.T) {
	lines := []sample.Frame{appLine("a.Grow", 1)}
	one := recordSteps(t, "app", "b1", lines, step{10}, step{-1}, step{-1}, step{20})
	late := recordSteps(t, "app", "b2", lines, step{-1}, step{-1}, step{20})
	other := recordSteps(t, "agent", "c1", lines, step{90})
	never := recordSteps(t, "app", "b1", lines, step{-1}, step{-1})
	for _, c := range []struct {
		before, after *Side
		want          string
		lines         bool
	}{
		{sideOf(t, one, "1s"), sideOf(t, other, "1s"), "two programs, app and agent", true},
		{sideOf(t, one, "1s"), sideOf(t, late, "3s"), "two builds of app", true},
		{sideOf(t, one, "1s"), sideOf(t, one, "3s"), "app-1.hwm has no heap profile at 3.0 s; the nearest before it, of 1s, is taken", true},
		{sideOf(t, late, "1s"), sideOf(t, late, "3s"), "app-1.hwm has no heap profile at 1.0 s or before; the nearest is at 3s", false},
		{sideOf(t, never, "1s"), sideOf(t, never, "2s"), "app-1.hwm has no heap profile of app: lines cannot be compared", false},
	} {
		d := Compare(c.before, c.after)
		if all := strings.Join(d.Notes, "\n"); !strings.Contains(all, c.want) {
			t.Errorf("%q, want %q", all, c.want)
		}
		if got := len(d.Grew)+len(d.Shrank)+len(d.Same) > 0; got != c.lines {
			t.Errorf("%s: lines %v", c.want, got)
		}
		if len(d.Ledger) < 2 {
			t.Errorf("%s: rows %v", c.want, d.Ledger)
		}
	}
}

func TestASideIsReadAsTheMarkCountedIt(t *testing.T) {
	path := record(t)
	s := sideOf(t, path, "kill")
	if s.View != "live" || s.Profile.HeapProfile == nil || s.Module() != "example.org/leaky" || s.Program().Name != "leaky" {
		t.Errorf("%+v", s.View)
	}
	d := Compare(sideOf(t, path, "1s"), s)
	if len(d.Grew) != 1 || d.Grew[0].Change != int64(200*mib) || d.Grew[0].Error != 0 {
		t.Errorf("%+v: every allocation was counted", d.Grew)
	}
	if want := "after shows what was reachable"; !strings.Contains(fmt.Sprint(d.Notes), want) {
		t.Errorf("%q, want %q", d.Notes, want)
	}
}
