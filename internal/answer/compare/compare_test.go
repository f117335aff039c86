package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/aside/hwtest/recorded"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

func load(t *testing.T, path, at string) *moment.Profiled {
	t.Helper()
	s, err := moment.Load(recorded.Open(t, path), path, at, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTwoMomentsDifferByRowsAndByLines(t *testing.T) {
	path := recorded.Steps(t, "app", "b1", []sample.Frame{recorded.Line("a.Grow", 1), recorded.Line("b.Keep", 2), recorded.Line("c.Free", 3),
		recorded.Line("d.Idle", 4)},
		recorded.Step{10, 90, 60, 4}, recorded.Step{100, 90, 10, 4})
	d := Moments(load(t, path, "1s"), load(t, path, "last"))
	if !d.SameProcess || d.Before.View != "published" || len(d.Notes) != 1 {
		t.Errorf("%+v %q", d.Before, d.Notes)
	}
	names := func(lines []Line) (out []string) {
		for _, l := range lines {
			out = append(out, explain.ShortFunc(l.Function))
			if l.Change != l.After-l.Before {
				t.Errorf("%+v", l)
			}
		}
		return out
	}
	if g, s, same := names(d.Grew), names(d.Shrank), names(d.Same); !slices.Equal(g, []string{"a.Grow"}) || !slices.Equal(s, []string{"c.Free"}) ||
		!slices.Equal(same, []string{"b.Keep", "d.Idle"}) {
		t.Errorf("grew %q, shrank %q, same %q", g, s, same)
	}
	if d.Total.Change != int64(40*sample.MiB) {
		t.Errorf("total %+v", d.Total)
	}
	var sum int64
	for _, r := range d.Ledger {
		sum += r.Change
	}
	if last := d.Ledger[len(d.Ledger)-1]; sum != d.Total.Change || last.Name != sample.RowUnexplained || d.Ledger[0].Change != int64(40*sample.MiB) {
		t.Errorf("rows sum to %d of %d: %+v", sum, d.Total.Change, d.Ledger)
	}
	back := Moments(load(t, path, "last"), load(t, path, "1s"))
	if len(back.Shrank) != 1 || back.Shrank[0].Change != -d.Grew[0].Change || back.Total.Change != -d.Total.Change {
		t.Errorf("the other way round: %+v", back.Shrank)
	}
}

func TestAComparisonSaysWhatItCannotMoments(t *testing.T) {
	lines := []sample.Frame{recorded.Line("a.Grow", 1)}
	one := recorded.Steps(t, "app", "b1", lines, recorded.Step{10}, recorded.Step{-1}, recorded.Step{-1}, recorded.Step{20})
	late := recorded.Steps(t, "app", "b2", lines, recorded.Step{-1}, recorded.Step{-1}, recorded.Step{20})
	other := recorded.Steps(t, "agent", "c1", lines, recorded.Step{90})
	never := recorded.Steps(t, "app", "b1", lines, recorded.Step{-1}, recorded.Step{-1})
	for _, c := range []struct {
		before, after *moment.Profiled
		want          string
		lines         bool
	}{
		{load(t, one, "1s"), load(t, other, "1s"), "two programs, app and agent", true},
		{load(t, one, "1s"), load(t, late, "3s"), "two builds of app", true},
		{load(t, one, "1s"), load(t, one, "3s"), "app-1.hwm has no heap profile at 3.0 s; the nearest before it, of 1s, is taken", true},
		{load(t, late, "1s"), load(t, late, "3s"), "app-1.hwm has no heap profile at 1.0 s or before; the nearest is at 3s", false},
		{load(t, never, "1s"), load(t, never, "2s"), "app-1.hwm has no heap profile of app: lines cannot be compared", false},
	} {
		d := Moments(c.before, c.after)
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

func TestAMarkIsComparedWithAPublishedProfile(t *testing.T) {
	path := recorded.Leak(t)
	d := Moments(load(t, path, "1s"), load(t, path, "kill"))
	if len(d.Grew) != 1 || d.Grew[0].Change != int64(200*sample.MiB) || d.Grew[0].Error != 0 {
		t.Errorf("%+v: every allocation was counted", d.Grew)
	}
	if want := "after shows what was reachable"; !strings.Contains(fmt.Sprint(d.Notes), want) {
		t.Errorf("%q, want %q", d.Notes, want)
	}
}

func TestRunsDifferByWhatTheyAllocated(t *testing.T) {
	side := func(name string, lines ...explain.Allocator) *moment.Profiled {
		return &moment.Profiled{Evidence: &explain.Evidence{Allocators: lines, Rate: 512 << 10}, View: "none", Path: name}
	}
	parse := explain.Allocator{Place: sample.Place{Function: "main.parse", File: "/a/parse.go", Line: 9}, Bytes: 600 * sample.MiB}
	hash := explain.Allocator{Place: sample.Place{Function: "main.hash", File: "/a/hash.go", Line: 18}, Bytes: 900 * sample.MiB}
	moved := parse
	moved.File, moved.Bytes = "/b/parse.go", 620*sample.MiB // another folder, and chance
	d := Moments(side("a.hwm", parse), side("b.hwm", moved, hash))
	if len(d.AllocatedBy) != 1 || d.AllocatedBy[0].Function != "main.hash" || d.AllocatedBy[0].Change != int64(900*sample.MiB) {
		t.Errorf("allocated by %+v, want the new line alone", d.AllocatedBy)
	}
	if d.Allocated.Change != int64(920*sample.MiB) {
		t.Errorf("allocated in all: %+v", d.Allocated)
	}
	if same := Moments(side("a.hwm", parse), side("a.hwm", moved, hash)); len(same.AllocatedBy) != 0 {
		t.Errorf("two moments of one run differ by %+v", same.AllocatedBy)
	}
}
