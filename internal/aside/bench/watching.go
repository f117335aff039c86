package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // to ask a recording how large its parts are

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

const (
	sites      = 10000
	cpuFloor   = 0.5 // percent of a core
	rssFloor   = 30 * sample.MiB
	bytesFloor = 10_000 // of a heap profile in a recording
	settle     = 8 * time.Second
)

// watching watches a program that is at rest and one that allocates, each for a
// minute at 10 Hz.
func watching(r *room) ([]row, error) {
	var rows []row
	for _, does := range []struct{ do, words string }{
		{"hold", "at rest"},
		{"churn", "allocating 20 MB/s"},
	} {
		w, err := r.watchFor(does.do, time.Duration(r.least(60))*time.Second)
		if err != nil {
			return nil, err
		}
		rows = append(rows, w.rows(does.words)...)
	}
	return rows, nil
}

// watched is one watch's cost.
type watched struct {
	cpu            float64      // percent of a core, after the start
	resident, peak sample.Bytes // largest after the start; largest ever
	kept           contents
}

func (w watched) rows(words string) []row {
	return []row{
		{
			What: "CPU of the watcher, one program " + words + ", 10,000 sites", Floor: "under 0.5 % of a core",
			Figure: fmt.Sprintf("%.2f %%", w.cpu), Pass: w.cpu < cpuFloor, More: fmt.Sprintf("%.1f samples a second, of which %.1f full", w.kept.perSecond,
				w.kept.fullPerSecond),
		},
		{
			What: "Resident memory of the watcher, " + words, Floor: "under 30 MiB",
			Figure: units.Size(w.resident), Pass: w.resident < rssFloor, More: "at most ever " + units.Size(w.peak),
		},
		{
			What: "A heap profile in the recording, " + words, Floor: "under 10 kB",
			Figure: fmt.Sprintf("%.0f bytes", w.kept.profile), Pass: w.kept.profile < bytesFloor && w.kept.profiles > 0,
			More: fmt.Sprintf("%d profiles; largest %d bytes, a key frame", w.kept.profiles, w.kept.largest),
		},
		{
			What: "An hour of recording, " + words, Floor: "", Figure: units.Size(sample.Bytes(w.kept.hour)), Pass: true,
			More: "beside " + units.Size(sample.Bytes(w.kept.sites)) + " for the 10,000 sites, once",
		},
	}
}

// watchFor watches the target for that long once it has settled.
func (r *room) watchFor(do string, lasts time.Duration) (*watched, error) {
	path := filepath.Join(r.dir, do+".hwm")
	p, err := start(r.tool, "run", "--limit", "512MiB", "-q", "-o", path, "--",
		r.target, "-sites", strconv.Itoa(sites), "-do", do, "-for", (settle + lasts + 2*time.Second).String())
	if err != nil {
		return nil, err
	}
	defer p.stop()
	if _, err := p.line("ready"); err != nil {
		return nil, err
	}
	time.Sleep(settle)
	w := &watched{}
	if err := w.observe(p.pid(), lasts); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	w.kept, err = contentsOf(path)
	return w, err
}

// observe takes the figures of the watcher over a time.
func (w *watched) observe(pid int, lasts time.Duration) error {
	began := time.Now()
	before, err := cpuOf(pid)
	if err != nil {
		return err
	}
	for left := lasts; left > 0; left = lasts - time.Since(began) {
		time.Sleep(min(left, 2*time.Second))
		rss, err := figure(pid, "smaps_rollup", "Rss")
		if err != nil {
			return err
		}
		w.resident = max(w.resident, rss)
	}
	after, err := cpuOf(pid)
	if err != nil {
		return err
	}
	w.cpu = 100 * float64(after-before) / float64(time.Since(began))
	w.peak, err = figure(pid, "status", "VmHWM")
	return err
}

// contents is what a recording holds, by the sizes of its tables.
type contents struct {
	profiles, largest        int
	profile                  float64 // mean bytes
	hour, sites              float64 // bytes; what grows with time, and what does not
	perSecond, fullPerSecond float64
}

func contentsOf(path string) (c contents, err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return c, err
	}
	defer db.Close()
	err = db.QueryRow(`SELECT count(*), coalesce(max(length(counts)), 0), coalesce(avg(length(counts)), 0) FROM heap_profile`).
		Scan(&c.profiles, &c.largest, &c.profile)
	if err != nil {
		return c, err
	}
	var seconds float64
	err = db.QueryRow(`SELECT (max(at) - min(at)) / 1e9, count(*), count(anon) FROM sample`).Scan(&seconds, &c.perSecond, &c.fullPerSecond)
	if err != nil {
		return c, err
	}
	c.perSecond, c.fullPerSecond = c.perSecond/seconds, c.fullPerSecond/seconds
	const fixed = `name IN ('site', 'frame', 'location', 'meta', 'process', 'sqlite_schema')`
	err = db.QueryRow(`SELECT sum(pgsize) FILTER (WHERE NOT `+fixed+`) * 3600 / ?, sum(pgsize) FILTER (WHERE `+fixed+`) FROM dbstat`, seconds).
		Scan(&c.hour, &c.sites)
	return c, err
}
