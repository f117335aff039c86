package recording

import (
	"database/sql/driver"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// restedRecording is a recording of 2 s at 10 Hz, 40 s of rest, a rise, and a time in which nobody
// looked; with the points that were given.
func restedRecording(t *testing.T) (*Reader, []sample.Point) {
	t.Helper()
	start := time.Unix(1_700_000_000, 0)
	w, path := create(t, Meta{At: start})
	key := sample.ProcessKey{PID: 1, Start: 1}
	must(t, w.Program(sample.Program{Key: key, Name: "p"}))
	var given []sample.Point
	point := func(after time.Duration, use sample.Bytes, resting bool) {
		p := sample.Point{At: start.Add(after), Resting: resting,
			Cgroup:    &sample.Cgroup{Usage: use, Peak: sample.Some(use)},
			Processes: []sample.Process{{Key: key, Resident: &sample.Resident{Total: use}, Go: &sample.Runtime{GOGC: 100, HeapLive: use / 2}}}}
		if after == 13*time.Second {
			p.Host = &sample.Host{Total: sample.GiB, Available: 77}
		}
		given = append(given, p)
		must(t, w.Point(&p))
		if resting && int(after.Seconds())%10 == 0 {
			must(t, w.Flush())
		}
	}
	for i := range 20 {
		point(time.Duration(i)*time.Second/10, 50*sample.MiB, false)
	}
	for i := range 40 {
		point(time.Duration(2+i)*time.Second, 50*sample.MiB, true)
	}
	point(41*time.Second+200*time.Millisecond, 90*sample.MiB, false)
	point(60*time.Second, 90*sample.MiB, true)
	point(61*time.Second, 90*sample.MiB, true)
	must(t, w.Close())
	return open(t, path), given
}

func TestARestHasFewRowsAndAllItsPoints(t *testing.T) {
	r, given := restedRecording(t)
	rows := int64(0)
	must(t, r.rows(func(row []driver.Value) error { rows = integer(row[0]); return nil }, "SELECT count(*) FROM sample"))
	if rows < 24 || rows > 30 {
		t.Errorf("%d rows, want 20 of the beginning, one each ten seconds of the rest and five more", rows)
	}
	s, err := r.Samples(ColUsage, ColPeak, ColHostAvailable, ColUnchanged)
	must(t, err)
	p, err := r.ProcessSamples(given[0].Processes[0].Key, ColResident, ColHeapLive)
	must(t, err)
	together, err := r.ResidentAbout(40_000)
	must(t, err)
	if s.Len() != len(given) || p.Len() != len(given) || together[given[0].Processes[0].Key].Len() != len(given) {
		t.Fatalf("%d samples, %d of the process, %d of all together; %d were given", s.Len(), p.Len(), together[given[0].Processes[0].Key].Len(), len(given))
	}
	seen := false
	for i, g := range given {
		if off := s.At[i] - g.At.UnixNano(); off != 0 || s.At[i] != p.At[i] || s.Column(ColUsage)[i] != float64(g.Cgroup.Usage) ||
			p.Column(ColHeapLive)[i] != float64(g.Cgroup.Usage/2) {
			t.Errorf("point %d: %d ns off, %v", i, off, s.Column(ColUsage)[i])
		}
		seen = seen || s.Column(ColHostAvailable)[i] == 77
	}
	if !seen {
		t.Error("what was left of the machine was read in a point without a row, and is lost")
	}
}

// A time that nobody saw is no rest: nothing is put there.
func TestAHoleIsNotFilled(t *testing.T) {
	r, given := restedRecording(t)
	s, err := r.Samples(ColUsage)
	must(t, err)
	for i, at := range s.At {
		if after := time.Duration(at - given[0].At.UnixNano()); after > 41200*time.Millisecond && after < time.Minute {
			t.Errorf("sample %d is of %v, when nobody looked", i, after)
		}
	}
}

// What a hostile recording says of itself fills no memory.
func TestFalseCountsOfLooksAreBounded(t *testing.T) {
	s := &Series{columns: map[string][]float64{"usage": nil}}
	var unchanged []int64
	for i := range int64(1000) {
		s.At = append(s.At, i*i*1e6)
		s.columns["usage"] = append(s.columns["usage"], float64(i))
		unchanged = append(unchanged, 15_000, 1<<62, -5)
	}
	s.fill(unchanged)
	if n := s.Len(); n > mostFilled+1000 || n != len(s.Column(ColUsage)) {
		t.Errorf("%d elements, %d figures", n, len(s.Column(ColUsage)))
	}
}

// What moves by more than a reader would see has a row of its own.
func TestNewsHasARow(t *testing.T) {
	base := sample.Point{Resting: true, Cgroup: &sample.Cgroup{Usage: 100 * sample.MiB, Events: &sample.CgroupEvents{}},
		Processes: []sample.Process{{Resident: &sample.Resident{Total: 90 * sample.MiB, Threads: 9}, Go: &sample.Runtime{NumGC: 3, Goroutines: 7}}}}
	for name, change := range map[string]func(*sample.Point){
		"the charge":        func(p *sample.Point) { p.Cgroup.Usage += sample.MiB },
		"its peak":          func(p *sample.Point) { p.Cgroup.Peak = sample.Some(101 * sample.MiB) },
		"a charge refused":  func(p *sample.Point) { p.Cgroup.Events.Max++ },
		"the resident set":  func(p *sample.Point) { p.Processes[0].Resident.Total += sample.MiB },
		"threads":           func(p *sample.Point) { p.Processes[0].Resident.Threads++ },
		"a collection":      func(p *sample.Point) { p.Processes[0].Go.NumGC++ },
		"goroutines":        func(p *sample.Point) { p.Processes[0].Go.Goroutines++ },
		"another process":   func(p *sample.Point) { p.Processes = append(p.Processes, p.Processes[0]) },
		"figures not read":  func(p *sample.Point) { p.Processes[0].Go = nil },
		"no charge":         func(p *sample.Point) { p.Cgroup = nil },
		"nothing (control)": func(*sample.Point) {},
	} {
		var a, b held
		a.copyOf(&base)
		b.copyOf(&base)
		change(&b.seen.Point)
		if same := a.seen.sameAs(&b.seen.Point); same != (name == "nothing (control)") {
			t.Errorf("%s: the same %v", name, same)
		}
	}
}
