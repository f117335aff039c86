package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/highwater-go/highwater/cases/internal/symptom"
)

const limit512 = 512_000_000

// noEndAfter is how long a sync may take under a limit: the same sync without
// one takes some seconds.
const noEndAfter = 40 * time.Second

// synced is what was seen of the destination in one sync.
type synced struct {
	symptom.Figures
	took time.Duration // of the sync
	done bool          // all rows arrived
}

type syncRuns struct {
	b    *bench
	path string
}

func objectsync(ctx context.Context, b *bench) (all []comparison, err error) {
	r := syncRuns{b: b}
	if r.path, err = b.build(ctx, "./objectsync"); err != nil {
		return nil, err
	}
	for _, measure := range []func(context.Context) (comparison, error){r.noseek, r.noseekAll, r.limitedNoseek, r.limitedAll, r.limitedCold, r.onerecord,
		r.alltables} {
		c, err := measure(ctx)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (r syncRuns) noseek(ctx context.Context) (comparison, error) {
	bad, err1 := r.run(ctx, "noseek", symptom.Options{EveryAllocation: true}, "-pages", "10", "-tables", "250")
	good, err2 := r.run(ctx, "none", symptom.Options{EveryAllocation: true}, "-pages", "10", "-tables", "250")
	if err := errors.Join(err1, err2); err != nil {
		return comparison{}, err
	}
	n, share, err := under(bad.Profile, "objectsync", "noseek", "inuse_space")
	return comparison{fault: "noseek", load: "250 tables, 125 at once; the destination, every allocation profiled", rows: []row{
		{"in use under the marked line", underText(n, share), "-"},
		both("live heap, peak", bad.Figures, good.Figures, live),
	}, shows: share > 0.9 && n > 250<<20 && bad.Live > 500<<20}, err // the profile is of up to two collections ago
}

func (r syncRuns) noseekAll(ctx context.Context) (comparison, error) {
	bad, err1 := r.run(ctx, "noseek,alltables", symptom.Options{})
	good, err2 := r.run(ctx, "none", symptom.Options{})
	return comparison{fault: "noseek,alltables", load: "500 tables of 2,000 rows; the destination", rows: append(heapRows(bad, good),
		took(bad.took, good.took)),
		shows: bad.done && good.done && bad.Reserved > 3*good.Reserved && bad.Reserved > bad.HeapResident*5/4}, errors.Join(err1, err2)
}

func (r syncRuns) limitedNoseek(ctx context.Context) (comparison, error) {
	return r.underLimit(ctx, "noseek", "", symptom.Options{Limit: limit512})
}

func (r syncRuns) limitedAll(ctx context.Context) (comparison, error) {
	return r.underLimit(ctx, "noseek,alltables", "", symptom.Options{Limit: limit512})
}

// limitedCold is where the kernel finds pages of the program's own code to take
// back before it kills.
func (r syncRuns) limitedCold(ctx context.Context) (comparison, error) {
	return r.underLimit(ctx, "noseek", ", read from disk", symptom.Options{Limit: limit512, Cold: true})
}

func (r syncRuns) underLimit(ctx context.Context, fault, how string, o symptom.Options) (comparison, error) {
	bad, err1 := r.run(ctx, fault, o)
	good, err2 := r.run(ctx, "none", o)
	ended := bad.Outcome(bad.done)
	return comparison{fault: fault, load: "500 tables of 2,000 rows; the destination under 512 MB" + how, rows: []row{
		{"outcome", fate(bad.Figures, bad.done), fate(good.Figures, good.done)},
		both("charged to the cgroup, peak", bad.Figures, good.Figures, peak),
		counts("the limit was met, times", bad.LimitHits, good.LimitHits),
		counts("pages of files read again", bad.Refaults, good.Refaults),
	}, shows: (ended == symptom.Killed || ended == symptom.Livelock) && good.Outcome(good.done) == symptom.Alive}, errors.Join(err1, err2)
}

func (r syncRuns) onerecord(ctx context.Context) (comparison, error) {
	bad, err1 := r.run(ctx, "onerecord", symptom.Options{}, "-tables", "125")
	good, err2 := r.run(ctx, "none", symptom.Options{}, "-tables", "125")
	return comparison{fault: "onerecord", load: "125 tables of 2,000 rows; the destination", rows: []row{
		both("allocated", bad.Figures, good.Figures, allocated),
		counts("collections", bad.Cycles, good.Cycles),
		both("live heap, peak", bad.Figures, good.Figures, live),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
		took(bad.took, good.took),
	}, shows: bad.done && good.done && bad.Allocated > 3*good.Allocated && bad.took > good.took}, errors.Join(err1, err2)
}

func (r syncRuns) alltables(ctx context.Context) (comparison, error) {
	bad, err1 := r.run(ctx, "alltables", symptom.Options{})
	good, err2 := r.run(ctx, "none", symptom.Options{})
	return comparison{fault: "alltables", load: "500 tables of 2,000 rows; the destination", rows: append(heapRows(bad, good),
		took(bad.took, good.took)),
		shows: bad.done && good.done && bad.Live > good.Live*5/4}, errors.Join(err1, err2)
}

func heapRows(bad, good synced) []row {
	return []row{
		both("live heap, peak", bad.Figures, good.Figures, live),
		both("held by the Go heap, peak", bad.Figures, good.Figures, reserved),
		both("pages present of it", bad.Figures, good.Figures, heapIn),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
	}
}

// run runs a sync with the destination under measurement. The store and the
// source are beside it, as other machines would be.
func (r syncRuns) run(ctx context.Context, fault string, o symptom.Options, args ...string) (s synced, err error) {
	r.b.say("objectsync -fault %s %s, limit %d MB", fault, strings.Join(args, " "), o.Limit/1e6)
	var addresses [3]string
	for i := range addresses {
		if addresses[i], err = symptom.FreeAddress(); err != nil {
			return s, err
		}
	}
	store, source, destination := addresses[0], addresses[1], addresses[2]
	flags := append([]string{"-fault", fault, "-store", store}, args...)
	said := new(printed)
	for role, address := range map[string]string{"store": store, "source": source} {
		stop, err := helper(ctx, said, r.path, append(flags[:len(flags):len(flags)], "-listen", address, role)...)
		if err != nil {
			return s, err
		}
		defer stop()
		if err := said.waitFor(ctx, "listening on "+address, nil); err != nil {
			return s, err
		}
	}
	o.Path, o.Args = r.path, append(flags[:len(flags):len(flags)], "-listen", destination, "destination")
	p, err := symptom.Start(o)
	if err != nil {
		return s, err
	}
	if err := p.WaitFor(destination); err != nil {
		_, stopping := p.Stop()
		return s, errors.Join(err, stopping)
	}
	patience := 3 * time.Minute
	if o.Limit > 0 {
		patience = noEndAfter
	}
	syncing, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	start := time.Now()
	_, failed := output(syncing, r.path, append(flags[:len(flags):len(flags)], "-source", source, "-destination", destination)...)
	s.took, s.done = time.Since(start), failed == nil
	if o.Limit > 0 && failed != nil && ctx.Err() == nil {
		failed = nil // that is what is measured
	}
	s.Figures, err = p.Stop()
	if o.Limit > 0 && !s.done {
		s.Took = s.took // without the time it was asked to end in vain
		err = nil       // it may be too busy reclaiming to answer
	}
	return s, errors.Join(failed, err)
}
