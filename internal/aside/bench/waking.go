package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

const (
	wakeLimit = 64 * sample.MiB
	wakeRests = 6 * time.Second // twice as long as it takes to be at rest
	wakeApart = 500 * time.Millisecond
)

// waking watches programs that rest, once a second, then wake and fill their limit as fast as
// they can, each at a time of its own: is each death held with all that is to be read, and was
// the climb looked at?
func waking(r *room) ([]row, error) {
	const wakes = 20 // in the short bench, too: they rest at the same time
	var running []*program
	var paths []string
	for i := range wakes {
		path := filepath.Join(r.dir, fmt.Sprintf("wake-%d.hwm", i))
		p, err := start(r.tool, "run", "--limit", "64MiB", "-q", "-o", path, "--", r.target, "-sites", "2000", "-do", "wake", "-rests", wakeRests.String())
		if err != nil {
			return nil, err
		}
		defer p.stop()
		running, paths = append(running, p), append(paths, path)
		time.Sleep(wakeApart)
	}
	complete, seen, missing := 0, 0, ""
	var took []time.Duration
	var looks []int
	for i, p := range running {
		if err := p.end(); err != nil {
			return nil, err
		}
		m, err := deathIn(paths[i])
		if err != nil {
			return nil, err
		}
		if why := lacks(m); why != "" {
			missing = fmt.Sprintf("; kill %d lacks %s", i+1, why)
			continue
		}
		complete++
		n, climb, err := climbIn(paths[i], m.At)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			seen++
		}
		took, looks = append(took, climb), append(looks, n)
	}
	if complete == 0 {
		return []row{{What: whatWakes, Floor: fmt.Sprintf("%d of %d", wakes, wakes), Figure: "none", More: missing}}, nil
	}
	slices.Sort(took)
	slices.Sort(looks)
	return []row{{
		What: whatWakes, Floor: fmt.Sprintf("%d of %d", wakes, wakes),
		Figure: fmt.Sprintf("%d of %d", complete, wakes), Pass: complete == wakes,
		More: fmt.Sprintf("%d climbs were looked at, %d times (median, least %d); from the last look at rest to the death %s (median, longest %s)%s",
			seen, looks[len(looks)/2], looks[0], units.Duration(took[len(took)/2]), units.Duration(took[len(took)-1]), missing),
	}}, nil
}

const whatWakes = "Complete last breaths of programs that wake from rest and fill 64 MiB at full speed"

// climbIn is how often a recording looked at its program above a quarter of the limit before
// its death, and for how long at most that was so: since the last look at which it was not.
func climbIn(path string, death time.Time) (looks int, took time.Duration, err error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	var low int64
	err = db.QueryRow(`SELECT max(at) FROM sample WHERE usage <= ?1 AND at < ?2`, int64(wakeLimit/4), death.UnixNano()).Scan(&low)
	if err != nil {
		return 0, 0, err
	}
	err = db.QueryRow(`SELECT count(*) FROM sample WHERE usage > ?1 AND at > ?2 AND at < ?3`, int64(wakeLimit/4), low, death.UnixNano()).Scan(&looks)
	return looks, time.Duration(death.UnixNano() - low), err
}
