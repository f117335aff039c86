package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/highwater-go/highwater/cases/internal/symptom"
)

// pico is one run of picoshare under its load.
type pico struct {
	fault  string
	limit  uint64
	every  bool          // keep every allocation's profile
	clean  string        // -clean
	load   string        // the load's flags
	after  time.Duration // to stay alive when the load has ended
	server string        // the programs
	loader string
}

// picoRun is what was seen.
type picoRun struct {
	symptom.Figures
	printed string
	wal     int64 // bytes of SQLite's log before the end
	temp    int64 // bytes of temporary files before the end
}

const limit256 = 256 << 20

func picoshare(ctx context.Context, b *bench) ([]comparison, error) {
	server, err := b.build(ctx, "./picoshare")
	if err != nil {
		return nil, err
	}
	loader, err := b.build(ctx, "./picoshare/load")
	if err != nil {
		return nil, err
	}
	var all []comparison
	for _, measure := range []func(context.Context, *bench, pico) (comparison, error){form32, form32Killed, formleak, chunkge, onetx, vacuum, harmless} {
		c, err := measure(ctx, b, pico{server: server, loader: loader, clean: "7h"})
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func form32(ctx context.Context, b *bench, p pico) (comparison, error) {
	p.every, p.load = true, "-uploads 2 -parallel 2 -size 150 -downloads 0 -ranges 0"
	bad, good, err := p.both(ctx, b, "form32")
	if err != nil {
		return comparison{}, err
	}
	held, first, err := siteOf(bad.Figures, "picoshare", "form32", "inuse_space")
	if err != nil {
		return comparison{}, err
	}
	heldGood, _, err := siteOf(good.Figures, "picoshare", "form32", "inuse_space")
	if err != nil {
		return comparison{}, err
	}
	passed, _, err := siteOf(bad.Figures, "picoshare", "form32", "alloc_space")
	if err != nil {
		return comparison{}, err
	}
	passedGood, _, err := siteOf(good.Figures, "picoshare", "form32", "alloc_space")
	return comparison{fault: "form32", load: "two uploads of 150 MiB, every allocation profiled", rows: []row{
		{"in use at the marked line, most seen", siteText(held), siteText(heldGood)},
		{"allocated there by both uploads", siteText(passed), siteText(passedGood)},
		both("live heap, peak", bad.Figures, good.Figures, live),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
	}, shows: first && held.Bytes >= 32<<20 && passed.Bytes >= 200<<20 && good.Live < 20<<20}, err
}

func form32Killed(ctx context.Context, b *bench, p pico) (comparison, error) {
	p.limit, p.load = limit256, "-uploads 3 -parallel 3 -size 450 -downloads 0 -ranges 0"
	bad, good, err := p.both(ctx, b, "form32")
	return comparison{fault: "form32", load: "three uploads of 450 MiB at once under 256 MiB", rows: []row{
		outcome(bad.Figures, good.Figures),
		both("charged to the cgroup, peak", bad.Figures, good.Figures, peak),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
		both("page cache, peak", bad.Figures, good.Figures, file),
	}, shows: bad.Killed && !good.Killed}, err
}

func formleak(ctx context.Context, b *bench, p pico) (comparison, error) {
	p.load = "-uploads 3 -size 150 -downloads 0 -ranges 0"
	bad, good, err := p.both(ctx, b, "formleak")
	return comparison{fault: "formleak", load: "three uploads of 150 MiB", rows: []row{
		{"temporary files left", mib(uint64(bad.temp)), mib(uint64(good.temp))},
		both("page cache at the end", bad.Figures, good.Figures, fileEnd),
		both("live heap, peak", bad.Figures, good.Figures, live),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
	}, shows: bad.temp >= 3*150<<20 && good.temp == 0 && bad.Live < 20<<20}, err
}

func chunkge(ctx context.Context, b *bench, p pico) (comparison, error) {
	p.load = "-uploads 1 -size 400 -downloads 0 -ranges 6"
	bad, good, err := p.both(ctx, b, "chunkge")
	slow, quick := quantile(bad.printed, "range"), quantile(good.printed, "range")
	return comparison{fault: "chunkge", load: "six ranges of 1 MiB from a file of 400 MiB, three at once", rows: []row{
		both("resident outside the Go heap", bad.Figures, good.Figures, outside),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
		both("live heap, peak", bad.Figures, good.Figures, live),
		{"a range took, median", slow, quick},
	}, shows: bad.OutsideResident > 100<<20 && good.OutsideResident < 60<<20 && bad.Live < 20<<20}, err
}

func onetx(ctx context.Context, b *bench, p pico) (comparison, error) {
	p.load = "-uploads 2 -size 300 -downloads 0 -ranges 0"
	bad, good, err := p.both(ctx, b, "onetx")
	return comparison{fault: "onetx", load: "two uploads of 300 MiB", rows: []row{
		{"SQLite's log", mib(uint64(bad.wal)), mib(uint64(good.wal))},
		both("page cache at the end", bad.Figures, good.Figures, fileEnd),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
	}, shows: bad.wal >= 300<<20 && good.wal < 60<<20 && bad.Anon < 100<<20}, err
}

func vacuum(ctx context.Context, b *bench, p pico) (comparison, error) {
	p.limit, p.clean, p.after = limit256, "8s", 12*time.Second
	p.load = "-uploads 2 -size 300 -downloads 0 -ranges 0 -keep"
	bad, good, err := p.both(ctx, b, "vacuum")
	return comparison{fault: "vacuum", load: "600 MiB stored, cleaned every 8 s, nobody there for 12 s, under 256 MiB", rows: []row{
		{"SQLite's log", mib(uint64(bad.wal)), mib(uint64(good.wal))},
		outcome(bad.Figures, good.Figures),
		both("page cache, peak", bad.Figures, good.Figures, file),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
		{"the limit was met, times", fmt.Sprint(bad.LimitHits), fmt.Sprint(good.LimitHits)},
	}, shows: bad.wal >= 300<<20 && good.wal < 60<<20 && !bad.Killed && bad.Anon < 100<<20}, err
}

func harmless(ctx context.Context, b *bench, p pico) (comparison, error) {
	p.limit, p.load = limit256, "-uploads 3 -size 450 -downloads 0 -ranges 0"
	good, err := p.run(ctx, b)
	const none = "-"
	return comparison{fault: "none", load: "three uploads of 450 MiB under 256 MiB", rows: []row{
		{"outcome", none, fate(good.Figures, true)},
		{"charged to the cgroup, peak", none, mib(good.Peak)},
		{"page cache, peak", none, mib(good.File)},
		{"anonymous memory, peak", none, mib(good.Anon)},
		{"live heap, peak", none, mib(good.Live)},
		{"the limit was met, times", none, fmt.Sprint(good.LimitHits)},
	}, shows: !good.Killed && good.LimitHits > 0 && good.Live < 20<<20}, err
}

// both runs the program with a fault, then repaired.
func (p pico) both(ctx context.Context, b *bench, fault string) (bad, good picoRun, err error) {
	p.fault = fault
	if bad, err = p.run(ctx, b); err != nil {
		return bad, good, err
	}
	p.fault = "none"
	good, err = p.run(ctx, b)
	return bad, good, err
}

func (p pico) run(ctx context.Context, b *bench) (r picoRun, err error) {
	dir, remove, err := b.folder()
	if err != nil {
		return r, err
	}
	defer remove()
	address, err := symptom.FreeAddress()
	if err != nil {
		return r, err
	}
	if p.fault == "" {
		p.fault = "none"
	}
	b.say("picoshare -fault %s, limit %d MiB, load %s", p.fault, p.limit>>20, p.load)
	program, err := symptom.Start(symptom.Options{Path: p.server, Limit: p.limit, EveryAllocation: p.every, Dir: dir,
		Args: []string{"-addr", address, "-data", "data", "-secret", "truth", "-clean", p.clean, "-fault", p.fault}})
	if err != nil {
		return r, err
	}
	if err := program.WaitFor(address); err != nil {
		_, stopping := program.Stop()
		return r, errors.Join(err, stopping)
	}
	var loading error
	r.printed, loading = output(ctx, p.loader, append(strings.Fields(p.load), "-url", "http://"+address, "-secret", "truth")...)
	select {
	case <-program.Ended():
	case <-ctx.Done():
	case <-time.After(p.after):
	}
	r.wal, r.temp = size(filepath.Join(dir, "data", "picoshare.db-wal")), size(filepath.Join(dir, "data", "tmp"))
	r.Figures, err = program.Stop()
	if r.Killed {
		loading = nil // of course
	}
	return r, errors.Join(loading, err)
}

// size is that of a file, or of all files in a folder; 0 if it is not there.
func size(path string) (n int64) {
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if i, err := d.Info(); err == nil && i.Mode().IsRegular() {
			n += i.Size()
		}
		return nil
	})
	return n
}

// quantile takes the median of a step from what a load printed: the first
// figure of the line of figures.
func quantile(printed, step string) string {
	m := regexp.MustCompile(`(?m)^` + step + `: .*\n.*\n\s*(\S+)`).FindStringSubmatch(printed)
	if m == nil {
		return "not printed"
	}
	return m[1]
}
