package recording

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// retell reads everything that story wrote.
func retell(t testing.TB, r *Reader) *told {
	t.Helper()
	s := &told{}
	var err error
	s.programs, err = r.Programs()
	must(t, err)
	if s.sites, err = r.Sites(server); !errors.Is(err, ErrMissing) {
		must(t, err)
	}
	must(t, r.Points(func(p *sample.Point) error { s.points = append(s.points, p); return nil }))
	s.cycles, err = r.Cycles(server)
	must(t, err)
	s.events, err = r.Events()
	must(t, err)
	s.gaps, err = r.Gaps()
	must(t, err)
	infos, err := r.Moments()
	must(t, err)
	for _, m := range infos {
		full, err := r.Moment(m.ID)
		must(t, err)
		s.moments = append(s.moments, full)
	}
	profiles, err := r.Profiles(server)
	if !errors.Is(err, ErrMissing) {
		must(t, err)
	}
	for _, p := range profiles {
		h, err := r.Profile(p.ID)
		if errors.Is(err, ErrMissing) {
			break
		}
		must(t, err)
		s.profiles = append(s.profiles, h)
	}
	return s
}

func TestWhatWasWrittenIsReadBack(t *testing.T) {
	w, path := create(t, meta)
	want := story(t, w, 150)
	must(t, w.SetMeta("note", "x"))
	must(t, w.SetMeta("note", "y"))
	must(t, w.Close())

	r := open(t, path)
	got := retell(t, r)
	equal(t, "programs", got.programs, want.programs)
	equal(t, "sites", got.sites, want.sites)
	equal(t, "points", got.points, want.points)
	equal(t, "cycles", got.cycles, want.cycles)
	equal(t, "events", got.events, want.events)
	equal(t, "gaps", got.gaps, want.gaps)
	equal(t, "moments", got.moments, want.moments)
	equal(t, "profiles", got.profiles, want.profiles)
	m, err := r.Meta()
	must(t, err)
	wantMeta := meta
	wantMeta.More = map[string]string{"cgroup": "v2", "note": "y"}
	equal(t, "meta", m, wantMeta)
	if _, closed := r.Closed(); !closed || r.Live() || r.Damage() != nil {
		t.Errorf("closed %v, live %v, damage %v", closed, r.Live(), r.Damage())
	}
	h, err := r.ProfileAt(server, start.Add(1100*time.Millisecond))
	must(t, err)
	equal(t, "profile at 1.1 s", h, want.profiles[4])
	p, err := r.PointAt(start.Add(1150 * time.Millisecond))
	must(t, err)
	equal(t, "point at 1.15 s", p, want.points[11])
}

func TestColumnsHoldNaNWhereNothingWasSeen(t *testing.T) {
	w, path := create(t, meta)
	want := story(t, w, 20)
	must(t, w.Close())
	r := open(t, path)
	s, err := r.Samples(ColUsage, ColEventsOOMKill)
	must(t, err)
	g, err := r.ProcessSamples(server, ColHeapLive, ColGCCPUFraction)
	must(t, err)
	if s.Len() != 20 || g.Len() != 20 || s.Column(ColPeak) != nil {
		t.Fatalf("%d and %d rows", s.Len(), g.Len())
	}
	for i, p := range want.points {
		usage, live := s.Column(ColUsage)[i], g.Column(ColHeapLive)[i]
		switch {
		case s.At[i] != p.At.UnixNano():
			t.Errorf("row %d at %d, want %d", i, s.At[i], p.At.UnixNano())
		case p.Cgroup == nil && !math.IsNaN(usage+live):
			t.Errorf("row %d: %v and %v, want NaN", i, usage, live)
		case p.Cgroup != nil && (usage != float64(p.Cgroup.Usage) || live != float64(p.Processes[1].Go.HeapLive)):
			t.Errorf("row %d: usage %v, heap live %v", i, usage, live)
		}
	}
	if _, err := r.Samples(Column{name: "no_such"}); err == nil {
		t.Error("an unknown column was loaded")
	}
}

func TestAnExecStartsItsOwnSites(t *testing.T) {
	w, path := create(t, meta)
	sites := makeSites(3)
	must(t, w.Sites(server, 0, sites)) // before the Program: a row with the key alone
	must(t, w.Heap(server, &sample.HeapProfile{At: start, Counts: make([]sample.BucketCounts, 3)}))
	must(t, w.Program(programs[1]))
	must(t, w.Sites(server, 0, sites[2:]))
	must(t, w.Heap(server, &sample.HeapProfile{At: start, Counts: make([]sample.BucketCounts, 1)}))
	must(t, w.Close())
	r := open(t, path)
	now, err := r.Sites(server)
	must(t, err)
	before, err := r.SitesOf(1)
	must(t, err)
	equal(t, "sites of the new program", now, sites[2:])
	equal(t, "sites of the first profile", before, sites)
	list, err := r.Programs()
	must(t, err)
	equal(t, "programs", list, programs[1:])
}

func TestSitesAnnouncedAgainAreKeptOnce(t *testing.T) {
	w, path := create(t, meta)
	sites := makeSites(6)
	must(t, w.Sites(server, 0, sites[:4]))
	must(t, w.Sites(server, 2, sites[2:]))
	must(t, w.Close())
	got, err := open(t, path).Sites(server)
	must(t, err)
	equal(t, "sites", got, sites)
}

func TestAStepOfTheWallClockLeavesTheOrder(t *testing.T) {
	m := meta
	m.At = time.Now()
	w, path := create(t, m)
	p := makePoint(0)
	p.At = m.At.Add(time.Second)
	must(t, w.Point(p))
	p.At = m.At.Round(0).Add(-time.Hour) // a wall clock that was set back, without a monotonic reading
	must(t, w.Point(p))
	must(t, w.Close())
	s, err := open(t, path).Samples()
	must(t, err)
	equal(t, "times", s.At, []int64{m.At.UnixNano() + 1e9, m.At.UnixNano() + 1e9 + 1})
}

func TestCreateRefusesWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hwm")
	must(t, os.WriteFile(path, []byte("precious"), 0o600))
	if _, err := Create(path, meta); !errors.Is(err, os.ErrExist) {
		t.Errorf("Create: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "precious" {
		t.Error("the file was changed")
	}
	if _, err := Create(filepath.Join(path, "b.hwm"), meta); err == nil {
		t.Error("created below a file")
	}
}

// state is every file of a recording, by content.
func state(t testing.TB, path string) map[string][32]byte {
	t.Helper()
	files := map[string][32]byte{}
	list, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, f := range list {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(path), f.Name()))
		must(t, err)
		files[f.Name()] = sha256.Sum256(b)
	}
	return files
}

func TestReadingAFinishedRecordingChangesNothing(t *testing.T) {
	w, path := create(t, meta)
	story(t, w, 60)
	must(t, w.Close())
	before := state(t, path)
	if len(before) != 1 {
		t.Errorf("a closed recording is %d files", len(before))
	}
	r := open(t, path)
	retell(t, r)
	equal(t, "files while open", state(t, path), before)
	must(t, r.Close())
	equal(t, "files", state(t, path), before)
}

func TestAReaderFollowsAWriter(t *testing.T) {
	w, path := create(t, meta)
	r := open(t, path)
	points := func() int {
		t.Helper()
		must(t, r.Refresh())
		s, err := r.Samples()
		must(t, err)
		return s.Len()
	}
	if !r.Live() || points() != 0 {
		t.Fatal("a recording that was just made is not live and empty")
	}
	var want told
	for i := range 3 {
		must(t, w.Point(makePoint(i)))
		must(t, w.Program(programs[i%2]))
		must(t, w.Moment(makeMoment(i, &sample.HeapProfile{At: start, Counts: []sample.BucketCounts{}}, makeSites(5))))
		want.programs = append(want.programs, programs[i%2])
		must(t, w.Flush())
		if n := points(); n != i+1 {
			t.Errorf("after flush %d: %d points", i, n)
		}
		got, err := r.Programs()
		must(t, err)
		equal(t, "programs", got, want.programs)
		m, err := r.Moment(int64(i + 1))
		must(t, err)
		equal(t, "moment", m, makeMoment(i, &sample.HeapProfile{At: start, Counts: []sample.BucketCounts{}}, makeSites(5)))
	}
	if _, closed := r.Closed(); closed {
		t.Error("closed while it is written")
	}
	must(t, w.Close())
	if n := points(); n != 3 || r.Live() {
		t.Errorf("at the end: %d points, live %v", n, r.Live())
	}
	if _, closed := r.Closed(); !closed || r.Damage() != nil {
		t.Errorf("closed %v, damage %v", closed, r.Damage())
	}
}

func TestEveryTableHasTheColumnsOfTheSchema(t *testing.T) {
	_, path := create(t, meta)
	r := open(t, path)
	for _, tab := range tables {
		if got, want := columnsOf(t, r, tab.name), append([]string{"id"}, tab.columns...); !slices.Equal(got, want) {
			t.Errorf("table %s:\n  schema %v\nwritten %v", tab.name, got, want)
		}
	}
}

func TestTheDocumentNamesEveryTableAndColumn(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/recording.md")
	must(t, err)
	_, path := create(t, meta)
	r := open(t, path)
	columns := map[string][]string{}
	for _, name := range append([]string{"meta"}, tableNames()...) {
		columns[name] = columnsOf(t, r, name)
	}
	for _, tab := range slices.Concat(askedTables, heapTables, filesTables,
		[]table{tableMalloc, tableGrowth, tableNativeReading, tableNativeLive}) { // made when they are needed
		columns[tab.name] = append([]string{"id"}, tab.columns...)
	}
	sections := strings.Split(string(doc), "\n### ")
	for name, columns := range columns {
		i := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, "`"+name+"`") })
		if i < 0 {
			t.Errorf("table %s has no section", name)
			continue
		}
		for _, c := range columns {
			if !strings.Contains(sections[i], "`"+c+"`") {
				t.Errorf("table %s: column %s is not described", name, c)
			}
		}
	}
}

func tableNames() (list []string) {
	for _, t := range tables {
		list = append(list, t.name)
	}
	return list
}

// What 1.1 added is absent from a recording of 1.0, and everything else is read.
func TestARecordingOfAnOlderMinorVersionIsRead(t *testing.T) {
	w, path := create(t, meta)
	want := story(t, w, 30)
	must(t, w.Close())
	change(t, path, `ALTER TABLE process DROP COLUMN found_by; ALTER TABLE process_moment DROP COLUMN metrics_at;
		ALTER TABLE process_moment DROP COLUMN metrics; ALTER TABLE goroutine_group DROP COLUMN frame_bytes;
		ALTER TABLE goroutine_group DROP COLUMN labels; ALTER TABLE goroutine_group DROP COLUMN locked; ALTER TABLE goroutine_group DROP COLUMN ids; DROP TABLE metric; DROP TABLE malloc;
		ALTER TABLE process_moment DROP COLUMN malloc; ALTER TABLE process_moment DROP COLUMN thread_starts; ALTER TABLE process_moment DROP COLUMN pages_c_stacks; ALTER TABLE process_moment DROP COLUMN c_stacks; ALTER TABLE process_moment DROP COLUMN live_large;
		ALTER TABLE sample DROP COLUMN unchanged; ALTER TABLE process_sample DROP COLUMN unchanged; PRAGMA user_version = 1000`)
	for _, m := range want.moments {
		m.Processes[0].Metrics, m.Processes[0].Malloc = nil, nil
		m.Processes[0].Live.Large = sample.Opt[sample.Bytes]{}
		m.Processes[0].Residency.CStacks, m.Processes[0].Residency.CStackCount = sample.Opt[sample.Bytes]{}, sample.Opt[uint64]{}
		for i := range m.Processes[0].Goroutines {
			m.Processes[0].Goroutines[i].Frames, m.Processes[0].Goroutines[i].Labels = nil, nil
			m.Processes[0].Goroutines[i].Locked = sample.Opt[int]{}
			m.Processes[0].Goroutines[i].IDs = nil
		}
	}
	r := open(t, path)
	got := retell(t, r)
	equal(t, "moments", got.moments, want.moments)
	equal(t, "how variables were found", got.programs[1].Go.FoundBy, "")
	s, err := r.Samples(ColUsage, ColUnchanged)
	if must(t, err); len(s.At) == 0 || !math.IsNaN(s.Column(ColUnchanged)[0]) || math.IsNaN(s.Column(ColUsage)[0]) {
		t.Errorf("samples %+v", s)
	}
	equal(t, "version", got.programs[1].Go.Version, want.programs[1].Go.Version)
}
