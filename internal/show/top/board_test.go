package top

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

var began = time.Date(2026, 11, 21, 14, 31, 0, 0, time.UTC)

// program is a Go program that starts.
func program(pid int, name string) sample.Program {
	return sample.Program{Key: sample.ProcessKey{PID: pid, Start: uint64(pid)}, Name: name, Args: []string{"/srv/" + name, "-listen", ":80"},
		Go: &sample.GoProgram{Version: "go1.26.1", Module: "example.com/" + name}}
}

// scene is a board on which one Life is seated.
type scene struct {
	*Board
	*Life
	t *testing.T
}

func newScene(t *testing.T, programs ...sample.Program) *scene {
	t.Helper()
	b := NewBoard()
	l := b.Add(Seat{Name: programs[0].Name, PID: programs[0].Key.PID, Path: "/state/" + programs[0].Name + "-3.hwm", Recording: programs[0].Name + "-3",
		Watches: func(pid int) bool { return pid < 9000 }})
	s := &scene{b, l, t}
	for _, p := range programs {
		s.must(l.Program(p))
	}
	return s
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// run samples the programs for some seconds: the first has used() bytes, the others
// 10 MiB; with a limit they have a cgroup.
func (s *scene) run(seconds int, limit sample.Bytes, used func(at float64) sample.Bytes, pids ...int) {
	for i := range seconds * 10 {
		at := float64(i) / 10
		p := &sample.Point{At: began.Add(time.Duration(at * 1e9))}
		for n, pid := range pids {
			r := &sample.Resident{Total: 10 * sample.MiB, User: time.Duration(at * 1e9)}
			if n == 0 {
				r.Total = used(at)
			}
			p.Processes = append(p.Processes, sample.Process{Key: sample.ProcessKey{PID: pid, Start: uint64(pid)}, Resident: r,
				Go: &sample.Runtime{GOGC: 100, MemoryLimit: sample.NoMemoryLimit, GCDedicated: time.Duration(at * 0.25e9), HeapMarked: r.Total / 2, HeapInUse: r.Total}})
		}
		if limit > 0 {
			p.Cgroup = &sample.Cgroup{Usage: used(at) + sample.MiB, Limit: sample.Some(limit), Stat: &sample.CgroupStat{PageCache: sample.MiB}}
		}
		s.must(s.Life.Point(p))
	}
}

func (s *scene) rows() []Row { return s.Board.Rows(began) }

func climb(at float64) sample.Bytes { return 100*sample.MiB + sample.Bytes(at*10*mib) }

func rest(float64) sample.Bytes { return 100 * sample.MiB }

func TestARowIsAProgramAgainstItsLimit(t *testing.T) {
	s := newScene(t, program(4121, "checkout"))
	s.run(10, 512*sample.MiB, climb, 4121)
	rows := s.rows()
	if len(rows) != 1 {
		t.Fatalf("%d rows: %+v", len(rows), rows)
	}
	r := rows[0]
	if r.Program != "checkout" || r.PID != 4121 || r.Go != "1.26.1" || r.State != Runs {
		t.Errorf("row %+v", r)
	}
	if r.Used != r.Charge || r.Limit.V != 512*sample.MiB || r.Charge.V != climb(9.9)+sample.MiB {
		t.Errorf("used %v, charge %v, limit %v", r.Used, r.Charge, r.Limit)
	}
	// 313 MiB are left at 10 MiB a second: page cache is none of it.
	if want := 31300 * time.Millisecond; !r.Left.OK || (r.Left.V-want).Abs() > time.Second {
		t.Errorf("the limit in %v, want %v", r.Left, want)
	}
	if !r.GC.OK || r.GC.V < 0.24 || r.GC.V > 0.26 {
		t.Errorf("GC share %v, want 0.25", r.GC)
	}
	line := tableLine(&r, 120).String()
	for _, says := range []string{"4121", "checkout", "1.26.1", "200 MiB", "512 MiB", "39%", "+10 MiB/s", "31 s", "25%"} {
		if !strings.Contains(line, says) {
			t.Errorf("the line does not say %q: %s", says, line)
		}
	}
}

func TestWhatIsNotKnownIsNoFigure(t *testing.T) {
	s := newScene(t, program(4121, "checkout"))
	if line := tableLine(&s.rows()[0], 120).String(); !strings.Contains(line, " ~ ") || strings.Contains(line, " 0") {
		t.Errorf("nothing was seen, and it says: %s", line)
	}
	s.run(1, 512*sample.MiB, rest, 4121)
	if line := tableLine(&s.rows()[0], 120).String(); strings.Count(line, " ~") < 2 {
		t.Errorf("growth and the time to the limit are not known: %s", line)
	}
	s.run(40, 512*sample.MiB, rest, 4121)
	if r := s.rows()[0]; !r.Growth.OK || r.Growth.V != 0 || r.Left.OK {
		t.Errorf("at rest: growth %v, limit in %v", r.Growth, r.Left)
	}
}

func TestAProgramBesideOthersHasItsOwnMemory(t *testing.T) {
	s := newScene(t, program(4121, "checkout"))
	s.must(s.Life.Program(program(9999, "neighbour"))) // it shares the cgroup alone
	s.run(2, 512*sample.MiB, rest, 4121, 9999)
	rows := s.rows()
	if len(rows) != 1 || rows[0].PID != 4121 {
		t.Fatalf("rows %+v", rows)
	}
	if rows[0].Used.V != 100*sample.MiB || rows[0].Charge.V != 101*sample.MiB {
		t.Errorf("used %v of the charge %v", rows[0].Used, rows[0].Charge)
	}
}

func TestSeveralProcessesStandBelowTheirLife(t *testing.T) {
	s := newScene(t, program(1, "sync"), program(2, "reader"), program(3, "writer"))
	s.run(2, 512*sample.MiB, rest, 1, 2, 3)
	var names []string
	for _, r := range s.rows() {
		names = append(names, nameOf(&r))
	}
	if want := []string{"sync (3)", "· sync", "· reader", "· writer"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	s.must(s.Life.Event(sample.Event{At: began, Kind: sample.EventExit, Process: sample.ProcessKey{PID: 2, Start: 2}, Text: "exit 0"}))
	if rows := s.rows(); len(rows) != 3 {
		t.Errorf("a part that exited is still shown: %d rows", len(rows))
	}
	s.must(s.Life.Event(sample.Event{At: began, Kind: sample.EventOOMKill, Process: sample.ProcessKey{PID: 3, Start: 3}, Value: 1}))
	s.must(s.Life.Event(sample.Event{At: began, Kind: sample.EventExit, Process: sample.ProcessKey{PID: 3, Start: 3}, Value: sigkill, Text: "signal 9"}))
	rows := s.rows()
	last := rows[len(rows)-1]
	if last.PID != 3 || last.State != Killed || !strings.Contains(last.Sentence, "the limit of 512 MiB") {
		t.Errorf("a part that was killed: %+v", last)
	}
}

func TestAKilledProgramStaysWithItsSentence(t *testing.T) {
	s := newScene(t, program(4121, "checkout"))
	s.run(10, 512*sample.MiB, climb, 4121)
	key := sample.ProcessKey{PID: 4121, Start: 4121}
	s.must(s.Life.Event(sample.Event{At: began, Kind: sample.EventOOMKill, Process: key, Value: 1}))
	s.must(s.Life.Event(sample.Event{At: began, Kind: sample.EventExit, Process: key, Value: sigkill, Text: "signal 9"}))
	if r := s.rows()[0]; r.State != Killed || !strings.Contains(r.Sentence, "being explained") {
		t.Errorf("before it is explained: %+v", r)
	}
	a := &explain.Answer{}
	a.Outcome.State, a.Verdict.Sentence = explain.Killed, "A burst, not a leak."
	s.Life.End(a)
	rows := s.rows()
	if len(rows) != 1 || rows[0].Sentence != "14:31:00  A burst, not a leak." {
		t.Fatalf("rows %+v", rows)
	}
	if line := tableLine(&rows[0], 80).String(); !strings.HasSuffix(line, "KILLED  14:31:00  A burst, not a leak.") {
		t.Errorf("the line says %q", line)
	}
}

func TestAProgramThatIsLetGoOfIsShownNoMore(t *testing.T) {
	s := newScene(t, program(4121, "checkout"))
	s.run(1, 0, rest, 4121)
	s.Life.End(&explain.Answer{Outcome: explain.Outcome{State: explain.Running}})
	if rows := s.rows(); len(rows) != 0 {
		t.Errorf("rows %+v", rows)
	}
}

func TestFewOfThoseThatEndedAreShown(t *testing.T) {
	b := NewBoard()
	for pid := 1; pid <= 3*mostExited; pid++ {
		l := b.Add(Seat{Name: "short", PID: pid})
		for _, err := range []error{l.Program(program(pid, "short")),
			l.Event(sample.Event{At: began, Kind: sample.EventExit, Process: sample.ProcessKey{PID: pid, Start: uint64(pid)}, Text: "exit 0"})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		l.End(nil)
	}
	rows := b.Rows(began)
	if len(rows) != mostExited || rows[len(rows)-1].PID != 3*mostExited {
		t.Errorf("%d rows, the last %+v", len(rows), rows[len(rows)-1])
	}
}

// full is a recording whose disk is full.
type full struct {
	capture.Sink
	calls int
}

func (f *full) Point(*sample.Point) error { f.calls++; return errors.New("no space left on device") }

func TestTheViewGoesOnWhenTheDiskIsFull(t *testing.T) {
	s := newScene(t, program(4121, "checkout"))
	disk := &full{}
	s.Life.Sink = disk
	s.run(2, 0, rest, 4121)
	if disk.calls != 1 {
		t.Errorf("the recording was written to %d times after it had failed", disk.calls-1)
	}
	if got := s.Board.message(time.Now()); !strings.Contains(got, "no space left") {
		t.Errorf("the user is told %q", got)
	}
	if r := s.rows()[0]; r.Used.V != 100*sample.MiB {
		t.Errorf("the view has stopped: %+v", r)
	}
}

func TestAProgramThatBecomesAnotherIsThatOne(t *testing.T) {
	s := newScene(t, program(7, "sh"))
	s.run(1, 0, rest, 7)
	other := program(7, "server")
	s.must(s.Life.Program(other))
	if rows := s.rows(); len(rows) != 1 || rows[0].Program != "server" || rows[0].Used.OK {
		t.Errorf("rows %+v", rows)
	}
}
