package top

import (
	"fmt"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// fleet is a model of three programs: one near its limit, one at rest without any, and
// one that was killed.
func fleet(t *testing.T) *model {
	t.Helper()
	s := newScene(t, program(4121, "checkout"))
	s.run(20, 512*sample.MiB, climb, 4121)
	api := &scene{s.Board, s.Board.Add(Seat{Name: "api", PID: 4133, Path: "/state/api-1.hwm", Recording: "api-1", Watches: func(int) bool { return true }}), t}
	api.must(api.Life.Program(program(4133, "api")))
	api.run(20, 0, rest, 4133)
	old := s.Board.Add(Seat{Name: "worker", PID: 77, Path: "/state/worker-9.hwm", Recording: "worker-9", Watches: func(int) bool { return true }})
	for _, err := range []error{old.Program(program(77, "worker")),
		old.Event(sample.Event{At: began, Kind: sample.EventExit, Process: sample.ProcessKey{PID: 77, Start: 77}, Value: sigkill, Text: "signal 9"})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	old.End(&explain.Answer{Outcome: explain.Outcome{State: explain.Killed}, Verdict: explain.Verdict{Sentence: "Somebody killed it."}})
	m := &model{how: "10 samples a second, recorded"}
	m.take(s.Board, began)
	t.Cleanup(func() { fleetBoard = nil })
	fleetBoard = s.Board
	return m
}

// fleetBoard is the board of the fleet of the running test.
var fleetBoard *Board

// press presses keys and gives the screen as text.
func (m *model) press(keys ...string) string {
	for _, k := range keys {
		m.key(k)
		m.take(fleetBoard, began)
	}
	return screenOf(m, 80, 24)
}

func screenOf(m *model, w, h int) string {
	var out []string
	for _, l := range m.frame(w, h) {
		out = append(out, l.String())
	}
	return strings.Join(out, "\n")
}

func TestTheListBeginsWithWhoIsNearestToItsLimit(t *testing.T) {
	m := fleet(t)
	screen := m.press()
	checkout, api, worker := strings.Index(screen, "4121 checkout"), strings.Index(screen, "4133 api"), strings.Index(screen, "77 worker")
	if checkout < 0 || api < checkout || worker < api {
		t.Errorf("the order is not checkout, api, worker:\n%s", screen)
	}
	for _, says := range []string{"3 programs, 1 KILLED", "FULL▾", "KILLED  14:31:00  Somebody killed it.", "? help"} {
		if !strings.Contains(screen, says) {
			t.Errorf("it does not say %q:\n%s", says, screen)
		}
	}
}

func TestKeys(t *testing.T) {
	for name, c := range map[string]struct {
		keys      []string
		says, not string
	}{
		"enter shows one program":         {[]string{"enter"}, "MEMORY NOW", "PROGRAM"},
		"its settings are there":          {[]string{"enter"}, "GOGC 100  GOMEMLIMIT not set", "PROGRAM"},
		"q leaves it":                     {[]string{"enter", "q"}, "PROGRAM", "MEMORY NOW"},
		"down goes to the next":           {[]string{"down", "enter"}, "pid 4133", "pid 4121"},
		"end goes to the last":            {[]string{"G", "enter"}, "pid 77", "pid 4121"},
		"one that was killed says why":    {[]string{"G", "enter"}, "Somebody killed it.", "MEMORY NOW"},
		"a key shows help":                {[]string{"?"}, "LIMIT IN  the time to the limit", "4121"},
		"help goes back to where it was":  {[]string{"enter", "?", "esc"}, "MEMORY NOW", "PROGRAM"},
		"a filter by name":                {[]string{"/", "a", "p", "i", "enter"}, "1 match /api", "checkout"},
		"a filter by pid":                 {[]string{"/", "4", "1", "2", "1", "enter"}, "checkout", "4133"},
		"a filter that nothing matches":   {[]string{"/", "x", "y", "enter"}, "none matches /xy", "4121"},
		"backspace takes back":            {[]string{"/", "x", "backspace", "a", "p", "i", "enter"}, "4133", "4121"},
		"q is a letter of a filter":       {[]string{"/", "q", "enter"}, "none matches /q", "4121"},
		"escape ends a filter":            {[]string{"/", "x", "enter", "esc"}, "4121", "none matches"},
		"another column":                  {[]string{">"}, "GROWTH▾", "FULL▾"},
		"and back":                        {[]string{">", "<"}, "FULL▾", "GROWTH▾"},
		"the other way round":             {[]string{"r"}, "FULL▴", "FULL▾"},
		"the recording's name":            {[]string{"o"}, "recording checkout-3, in /state", "/srv/checkout"},
		"a notice goes with the next key": {[]string{"o", "down"}, "/srv/api", "in /state"},
		"a key that is none":              {[]string{"", "F"}, "4121", "in /state"},
	} {
		t.Run(name, func(t *testing.T) {
			screen := fleet(t).press(c.keys...)
			if !strings.Contains(screen, c.says) || strings.Contains(screen, c.not) {
				t.Errorf("after %q, %q is to be there and %q is not:\n%s", c.keys, c.says, c.not, screen)
			}
		})
	}
}

func TestWhatKeysAskFor(t *testing.T) {
	for k, want := range map[string]action{"q": quit, "ctrl-c": quit, "ctrl-z": suspend, "s": keepMoment, "e": explainNow, "o": nothing, "x": nothing} {
		if got := fleet(t).key(k); got != want {
			t.Errorf("%q asks for %v, want %v", k, got, want)
		}
	}
	m := fleet(t)
	m.press("enter")
	if got := m.key("q"); got != nothing {
		t.Errorf("q in a program's view asks for %v", got)
	}
	if got := m.key("ctrl-c"); got != quit {
		t.Errorf("ctrl-c in the list asks for %v", got)
	}
	empty := &model{}
	empty.take(NewBoard(), began)
	if got := empty.key("s"); got != nothing || empty.notice == "" {
		t.Errorf("without a program s asks for %v and says %q", got, empty.notice)
	}
}

func TestTheSelectionFollowsItsProgram(t *testing.T) {
	m := fleet(t)
	m.press("down")
	if i := m.index(); m.rows[i].Program != "api" {
		t.Fatalf("selected %s", m.rows[i].Program)
	}
	m.press(">", ">", ">", ">", "r") // by pid, backwards
	if i := m.index(); m.rows[i].Program != "api" {
		t.Errorf("after sorting %s is selected", m.rows[i].Program)
	}
}

func TestUntilAKeyChoosesOneTheFirstRowIsSelected(t *testing.T) {
	m := fleet(t)
	m.press(">", ">", ">", ">") // by pid
	if m.index() != 0 || m.rows[0].PID != 4121 {
		t.Errorf("row %d is selected", m.index())
	}
	m.press("r")
	if m.index() != 0 || m.rows[0].PID != 4133 { // what was killed stays last
		t.Errorf("the other way round, row %d is selected, the first is %d", m.index(), m.rows[0].PID)
	}
}

// Of every size, and in every view, a frame fits its window.
func TestAFrameFitsItsWindow(t *testing.T) {
	long := strings.Repeat("a long page with words and averyveryverylongwordthatnothingbreaks ", 20)
	views := map[string]func(m *model){
		"list":    func(m *model) {},
		"killed":  func(m *model) { m.press("G") },
		"filter":  func(m *model) { m.press("/", "a", "b") },
		"detail":  func(m *model) { m.press("enter") },
		"help":    func(m *model) { m.press("?") },
		"page":    func(m *model) { m.show("explain", long) },
		"message": func(m *model) { m.notice = long },
	}
	for name, open := range views {
		m := fleet(t)
		open(m)
		for _, w := range []int{1, 2, 10, 19, 20, 39, 40, 60, 79, 80, 81, 100, 140, 400} {
			for _, h := range []int{1, 2, 3, 5, 10, 24, 50, 200} {
				frame := m.frame(w, h)
				if len(frame) != h {
					t.Fatalf("%s: %d lines in a window of %dx%d", name, len(frame), w, h)
				}
				for y, l := range frame {
					if n := width(l.String()); n > w {
						t.Errorf("%s, %dx%d: line %d is %d wide: %q", name, w, h, y, n, l)
					}
				}
			}
		}
	}
}

func TestEightyColumnsHoldAllThatIsAskedFor(t *testing.T) {
	list, widths := fitted(80)
	sum := 0
	var titles []string
	for i, c := range list {
		sum += widths[i] + 1
		titles = append(titles, c.title)
	}
	if got, want := fmt.Sprint(titles), "[PID PROGRAM GO USED LIMIT FULL GROWTH LIMIT IN GC 5 MIN]"; got != want || sum > 80 {
		t.Errorf("%s in %d columns, want %s", got, sum, want)
	}
}

func TestATerminalWithoutUnicodeIsGivenASCII(t *testing.T) {
	for _, keys := range [][]string{nil, {"enter"}, {"?"}, {"r"}} {
		m := fleet(t)
		for _, r := range asciiOf.Replace(m.press(keys...)) {
			if r > 126 {
				t.Errorf("after %q %q is drawn", keys, r)
			}
		}
	}
}

func TestTheTableOnAPipeHasEveryProgram(t *testing.T) {
	fleet(t)
	table := Table(fleetBoard.Rows(began), 120)
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], "LIMIT IN") || !strings.Contains(lines[1], "checkout") || !strings.Contains(lines[3], "KILLED") {
		t.Errorf("table:\n%s", table)
	}
	if strings.ContainsRune(table, '\x1b') {
		t.Error("it has control sequences")
	}
}

func BenchmarkAFrameOfThirtyTwoPrograms(b *testing.B) {
	board := NewBoard()
	for pid := 1; pid <= 32; pid++ {
		l := board.Add(Seat{Name: "server", PID: pid, Watches: func(int) bool { return true }})
		if err := l.Program(program(pid, "server")); err != nil {
			b.Fatal(err)
		}
		l.processes[0].use = *seen(300, func(s float64) float64 { return 100*mib + s*1000 })
	}
	m := &model{}
	for b.Loop() {
		m.take(board, began)
		m.frame(140, 50)
	}
}

// A table of 32 programs left out the largest, with no word (row A10 of the first users' findings): how many
// there are is said, and every program that is watched has its row.
func TestRowA10NoProgramIsLeftOutWithoutAWord(t *testing.T) {
	board := NewBoard()
	for pid := 1; pid <= 40; pid++ {
		l := board.Add(Seat{Name: fmt.Sprintf("server%d", pid), PID: pid, Watches: func(int) bool { return true }})
		if err := l.Program(program(pid, fmt.Sprintf("server%d", pid))); err != nil {
			t.Fatal(err)
		}
		l.processes[0].use = *seen(300, func(s float64) float64 { return float64(pid) * mib })
	}
	board.Found(41)
	table := Table(board.Rows(began), 120)
	for pid := 1; pid <= 40; pid++ {
		if !strings.Contains(table, fmt.Sprintf("server%d ", pid)) {
			t.Errorf("server%d is not in\n%s", pid, table)
		}
	}
	m := &model{}
	m.take(board, began)
	if said := m.summary(); !strings.HasPrefix(said, "the largest 40 of 41 programs") {
		t.Error(said)
	}
}
