package recording

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// finished makes a finished recording of n ticks and returns its bytes.
func finished(t testing.TB, n int) []byte {
	t.Helper()
	w, path := create(t, meta)
	story(t, w, n)
	must(t, w.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// withoutSums is a recording as it was before there were checksums.
func withoutSums(b []byte) []byte {
	pages := binary.BigEndian.Uint32(b[28:])
	return b[:int(pages)*int(binary.BigEndian.Uint16(b[16:]))]
}

// change makes a recording another, as somebody with a SQL tool and our sources can.
func change(t testing.TB, path, sql string) {
	t.Helper()
	db, err := openDatabase(path, "mode=rw")
	must(t, err)
	must(t, db.exec(sql))
	must(t, db.close())
	must(t, Seal(path))
}

// listing is what a recording says, each thing as text, by kind and in order.
func listing(t testing.TB, r *Reader) map[string][]string {
	t.Helper()
	s := retell(t, r)
	out := map[string][]string{}
	add := func(kind string, v any) {
		b, err := json.Marshal(v)
		must(t, err)
		out[kind] = append(out[kind], string(b))
	}
	for _, p := range s.programs {
		add("program", p)
	}
	for _, p := range s.sites {
		add("site", p)
	}
	for _, p := range s.points {
		add("point", p)
	}
	for _, c := range s.cycles {
		add("cycle", c)
	}
	for _, e := range s.events {
		add("event", e)
	}
	for _, g := range s.gaps {
		add("gap", g)
	}
	for _, h := range s.profiles {
		add("profile", h)
	}
	for _, m := range s.moments {
		for i := range m.Processes {
			// What was lost is nil and said; the rest has to be as it was.
			if strings.Contains(m.Processes[i].Incomplete, "the recording is cut") {
				m.Processes[i].Incomplete, m.Processes[i].Profile, m.Processes[i].Goroutines = "", nil, nil
			}
		}
		add("moment", m)
	}
	return out
}

// readCut reads the first n bytes of a recording: how many things it says, every
// one of them as in the whole recording and in its order; -1 if it was refused.
func readCut(t *testing.T, whole []byte, n int, want map[string][]string) int {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cut.hwm")
	must(t, os.WriteFile(path, whole[:n], 0o600))
	defer os.Remove(path)
	r, err := Open(path)
	if err != nil {
		var cut ErrCut
		if !errors.As(err, &cut) && !errors.Is(err, ErrNotRecording) {
			t.Errorf("%d bytes: refused with %v", n, err)
		}
		if cut.Have > int64(n) || n >= len(magic) && !errors.As(err, &cut) {
			t.Errorf("%d bytes: refused with %v", n, err)
		}
		return -1
	}
	defer r.Close()
	rows := 0
	for kind, said := range listing(t, r) {
		rows += len(said)
		for i, s := range said {
			if i >= len(want[kind]) || s != want[kind][i] && (kind != "moment" || !sameMoment(s, want[kind][i])) {
				t.Fatalf("%d bytes: %s %d is %s", n, kind, i, s)
			}
		}
	}
	if n < len(whole) && r.Damage() == nil {
		t.Errorf("%d of %d bytes: no damage", n, len(whole))
	}
	return rows
}

// sameMoment compares a moment that lost profiles or goroutines with the whole one.
func sameMoment(got, want string) bool {
	var g, w map[string]any
	if json.Unmarshal([]byte(got), &g) != nil || json.Unmarshal([]byte(want), &w) != nil {
		return false
	}
	gp, _ := g["Processes"].([]any)
	wp, _ := w["Processes"].([]any)
	if len(gp) != len(wp) {
		return false
	}
	for i := range gp {
		lost, whole := gp[i].(map[string]any), wp[i].(map[string]any)
		if lost["Profile"] == nil {
			whole["Profile"] = nil
		}
		if lost["Goroutines"] == nil {
			whole["Goroutines"] = nil
		}
		if lost["Malloc"] == nil {
			whole["Malloc"] = nil
		}
	}
	return fmt.Sprint(g) == fmt.Sprint(w)
}

func whole(t *testing.T, b []byte) map[string][]string {
	path := filepath.Join(t.TempDir(), "whole.hwm")
	must(t, os.WriteFile(path, b, 0o600))
	return listing(t, open(t, path))
}

func TestARecordingCutAtAnyPageReadsToAPrefix(t *testing.T) {
	hwtest.Slow(t, "opens hundreds of damaged recordings")
	b := finished(t, 400)
	want := whole(t, b)
	last, readable := -1, 0 // the schema and the first page of each table take some 16 pages
	for n := 0; n <= len(b); n += 4096 {
		rows := readCut(t, b, n, want)
		if rows < last {
			t.Errorf("%d bytes say %d things, fewer bytes said %d", n, rows, last)
		}
		if rows > 0 {
			readable++
		}
		last = max(last, rows)
	}
	total := 0
	for _, said := range want {
		total += len(said)
	}
	if last != total || readable < len(b)/4096-20 {
		t.Errorf("%d of %d things in the end; %d of %d cuts say something", last, total, readable, len(b)/4096)
	}
	// Half of the file holds about half of what was said.
	if half := readCut(t, b, len(b)/2, want); half < total*3/10 {
		t.Errorf("half of the file says %d of %d things", half, total)
	}
}

// smallPages is a finished recording of n ticks, written again with the smallest
// pages that SQLite knows: as few bytes as a whole one can have.
func smallPages(t *testing.T, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.hwm")
	must(t, os.WriteFile(path, finished(t, n), 0o600))
	change(t, path, "PRAGMA page_size = 512; VACUUM")
	must(t, Verify(path))
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// Of the bytes of a page the first are cut, and every 61st; make fuzz cuts at all.
func TestARecordingCutAtEveryByteReadsToAPrefix(t *testing.T) {
	hwtest.Slow(t, "opens thousands of damaged recordings")
	const page = 512
	every := 61
	if os.Getenv("HIGHWATER_CUTS") != "" {
		every = 1
	}
	b := smallPages(t, 12)
	want := whole(t, b)
	path := filepath.Join(t.TempDir(), "cut.hwm")
	must(t, os.WriteFile(path, b, 0o600))
	readable, tried, most := 0, 0, len(want["point"])
	for n := len(b) - 1; n >= 0; n-- {
		if n%page > 2 && n%every != 0 && n < len(b)-page {
			continue
		}
		tried++
		must(t, os.Truncate(path, int64(n)))
		points, ok := pointsOfCut(t, path, n, len(withoutSums(b)), want["point"])
		if points > most {
			t.Fatalf("%d bytes say %d points, more bytes said %d", n, points, most)
		}
		if most = points; ok {
			readable++
		}
		if n%page <= 1 { // what is read changes here: look at all of it
			readCut(t, b, n, want)
		}
	}
	if readable < tried/6 { // the schema alone takes 12 kB
		t.Errorf("%d of %d cuts were read", readable, tried)
	}
}

// pointsOfCut reads the points of a file cut to n bytes, of which the pages had size,
// each point as it was in the whole one; false if the file was refused.
func pointsOfCut(t *testing.T, path string, n, size int, want []string) (points int, read bool) {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		var cut ErrCut
		if isCut := errors.As(err, &cut); isCut != (n > 0) || isCut && cut.Have > int64(n) || !isCut && !errors.Is(err, ErrNotRecording) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		return 0, false
	}
	defer r.Close()
	must(t, r.Points(func(p *sample.Point) error {
		if said, err := json.Marshal(p); err != nil || points >= len(want) || string(said) != want[points] {
			t.Fatalf("%d bytes: point %d is %s, %v", n, points, said, err)
		}
		points++
		return nil
	}))
	if damage := r.Damage(); damage == nil ||
		n < size && !strings.Contains(damage.Error(), fmt.Sprintf("%d of %d bytes are there", n/512*512, size)) ||
		n >= size && !strings.Contains(damage.Error(), "checksums") {
		t.Fatalf("%d bytes: the damage is %v", n, damage)
	}
	return points, true
}

func TestARecordingCutInsideAPageIsNamedByVerify(t *testing.T) {
	b := finished(t, 3)
	for n := 0; n < len(b); n += 1 + n/40 {
		path := filepath.Join(t.TempDir(), "cut.hwm")
		must(t, os.WriteFile(path, b[:n], 0o600))
		if err := Verify(path); err == nil || !strings.Contains(err.Error(), path) || errors.Is(err, ErrUnfinished) ||
			n > 16 && !strings.Contains(err.Error(), "is cut") {
			t.Errorf("%d bytes: %v", n, err)
		}
		must(t, os.Remove(path))
	}
}

func TestALongRecordingCutAtAnyByteReadsToAPrefix(t *testing.T) {
	b := finished(t, 120)
	want := whole(t, b)
	rng := rand.New(rand.NewPCG(9, 10))
	for range 150 {
		readCut(t, b, rng.IntN(len(b)), want)
	}
}

func TestAFileThatIsNoRecordingIsRefusedByName(t *testing.T) {
	whole := finished(t, 5)
	b := withoutSums(whole)
	newer := append([]byte(nil), b...)
	newer[60+2], newer[60+3] = 2003>>8, 2003&0xff
	foreign := append([]byte(nil), b...)
	foreign[68] = 'x'
	for name, c := range map[string]struct {
		data []byte
		want func(error) bool
	}{
		"empty":                   {nil, is(ErrNotRecording)},
		"text":                    {[]byte("PK\x03\x04 a zip file, say"), is(ErrNotRecording)},
		"another SQLite database": {foreign, is(ErrNotRecording)},
		"a newer major version": {newer, func(err error) bool {
			var e ErrNewer
			return errors.As(err, &e) && e == ErrNewer{2, 3} && strings.Contains(err.Error(), "2.3")
		}},
		"its header alone": {b[:100], func(err error) bool {
			var e ErrCut
			return errors.As(err, &e) && e.Have == 100 && e.Want == int64(len(b))
		}},
	} {
		path := filepath.Join(t.TempDir(), "a.hwm")
		must(t, os.WriteFile(path, c.data, 0o600))
		before := state(t, path)
		if _, err := Open(path); err == nil || !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
		equal(t, name, state(t, path), before)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent.hwm")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNotRecording) {
		t.Errorf("a directory: %v", err)
	}
}

func is(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }

func TestAMinorVersionAheadIsRead(t *testing.T) {
	b := withoutSums(finished(t, 5))
	b[60+2], b[60+3] = 1009>>8, 1009&0xff
	path := filepath.Join(t.TempDir(), "a.hwm")
	must(t, os.WriteFile(path, b, 0o600))
	if s := retell(t, open(t, path)); len(s.points) != 5 {
		t.Errorf("%d points", len(s.points))
	}
}

func FuzzARecordingOfAnyBytesIsReadOrRefused(f *testing.F) {
	b := finished(f, 8)
	f.Add(0, byte(1), len(b))
	f.Add(5000, byte(0xff), len(b))
	f.Add(4096*3+1, byte(3), len(b)/2)
	f.Fuzz(func(t *testing.T, at int, flip byte, n int) {
		if n < 0 || n > len(b) || at < 0 || at >= len(b) {
			return
		}
		c := append([]byte(nil), b...)
		c[at] ^= flip
		path := filepath.Join(t.TempDir(), "a.hwm")
		must(t, os.WriteFile(path, c[:n], 0o600))
		r, err := Open(path)
		if err != nil {
			return
		}
		defer r.Close()
		_, _ = r.Meta()
		_, _ = r.Programs()
		_, _ = r.Sites(server)
		_ = r.Points(func(*sample.Point) error { return nil })
		moments, _ := r.Moments()
		for _, m := range moments {
			_, _ = r.Moment(m.ID)
		}
		_, _ = r.Profile(1)
		_ = Verify(path)
	})
}

// snapshot keeps the file as it is, and returns what brings it back.
func snapshot(t testing.TB, path string) (restore func()) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return func() { must(t, os.WriteFile(path, b, 0o600)) }
}
