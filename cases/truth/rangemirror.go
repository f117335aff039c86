package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/cases/internal/symptom"
)

// limit560 is of megabytes, as the notes of the investigation have it.
const limit560 = 560_000_000

// mirrored is one run of rangemirror: its figures, and the prefixes that it
// stored.
type mirrored struct {
	symptom.Figures
	prefixes int
}

// mirrorRuns runs rangemirror against an origin and a store that stay.
type mirrorRuns struct {
	b                   *bench
	path, origin, store string
}

func rangemirror(ctx context.Context, b *bench) (all []comparison, err error) {
	r := mirrorRuns{b: b}
	if r.path, err = b.build(ctx, "./rangemirror"); err != nil {
		return nil, err
	}
	var err1, err2 error
	r.origin, err1 = symptom.FreeAddress()
	r.store, err2 = symptom.FreeAddress()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	said := new(printed)
	stop, err := helper(ctx, said, r.path, "serve", "-origin", r.origin, "-store", r.store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := said.waitFor(ctx, "store at", nil); err != nil {
		return nil, err
	}
	bad, err1 := r.run(ctx, symptom.Options{}, "-fault", "defaults")
	good, err2 := r.run(ctx, symptom.Options{})
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	all = append(all, mirrorGoal(bad, good))
	for _, measure := range []func() (comparison, error){
		func() (comparison, error) { return r.settings(ctx, bad) },
		func() (comparison, error) { return r.killed(ctx) },
		func() (comparison, error) { return r.reserved(ctx) },
	} {
		c, err := measure()
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func mirrorGoal(bad, good mirrored) comparison {
	return comparison{fault: "defaults", load: "32 prefixes", rows: []row{
		both("live heap, most at a collection", bad.Figures, good.Figures, live),
		both("heap goal, peak", bad.Figures, good.Figures, goal),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
		both("allocated", bad.Figures, good.Figures, allocated),
		counts("collections", bad.Cycles, good.Cycles),
		took(bad.Took, good.Took),
	}, shows: bad.Live < 420<<20 && bad.Goal > 600<<20 && bad.Anon > good.Anon*3/2}
}

// settings repeats the article's table: the same program, told of its limit in
// three ways.
func (r mirrorRuns) settings(ctx context.Context, bad mirrored) (comparison, error) {
	c := comparison{fault: "defaults", load: "32 prefixes; repaired by a setting alone", shows: true}
	for _, s := range []struct {
		name string
		env  []string
		args []string
	}{
		{"GOGC=20", []string{"GOGC=20"}, nil},
		{"GOMEMLIMIT=450MiB", []string{"GOMEMLIMIT=450MiB"}, nil},
		{"-manual", nil, []string{"-manual"}},
	} {
		good, err := r.run(ctx, symptom.Options{Env: s.env}, append(s.args, "-fault", "defaults")...)
		if err != nil {
			return c, err
		}
		c.rows = append(c.rows,
			row{s.name + ": anonymous memory, peak", mib(bad.Anon), mib(good.Anon)},
			row{s.name + ": collections, time taken", fmt.Sprintf("%d, %.1f s", bad.Cycles, bad.Took.Seconds()),
				fmt.Sprintf("%d, %.1f s", good.Cycles, good.Took.Seconds())})
		c.shows = c.shows && good.Anon < bad.Anon*4/5 && good.Anon > 300<<20
	}
	return c, nil
}

func (r mirrorRuns) killed(ctx context.Context) (comparison, error) {
	bad, err1 := r.run(ctx, symptom.Options{Limit: limit560}, "-fault", "defaults")
	good, err2 := r.run(ctx, symptom.Options{Limit: limit560})
	return comparison{fault: "defaults", load: "32 prefixes under 560 MB", rows: []row{
		outcome(bad.Figures, good.Figures),
		counts("prefixes stored", uint64(bad.prefixes), uint64(good.prefixes)),
		both("charged to the cgroup, peak", bad.Figures, good.Figures, peak),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
	}, shows: bad.Killed && !good.Killed && good.prefixes == 32}, errors.Join(err1, err2)
}

// reserved looks at the first prefixes: whatever the collector frees and gives
// out again is touched.
func (r mirrorRuns) reserved(ctx context.Context) (comparison, error) {
	bad, err1 := r.run(ctx, symptom.Options{EveryAllocation: true}, "-fault", "reserved", "-prefixes", "6")
	good, err2 := r.run(ctx, symptom.Options{EveryAllocation: true}, "-prefixes", "6")
	if err := errors.Join(err1, err2); err != nil {
		return comparison{}, err
	}
	n, share, err := under(bad.Profile, "rangemirror", "reserved", "inuse_space")
	return comparison{fault: "reserved", load: "6 prefixes, every allocation profiled", rows: []row{
		{"in use at the marked line", underText(n, share), "-"},
		both("live heap, peak", bad.Figures, good.Figures, live),
		both("pages present of the Go heap", bad.Figures, good.Figures, heapIn),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
	}, shows: n >= 190<<20 && bad.Live > bad.HeapResident+20<<20}, err
}

func (r mirrorRuns) run(ctx context.Context, o symptom.Options, args ...string) (mirrored, error) {
	said := new(printed)
	o.Path, o.Log = r.path, said
	o.Args = append([]string{"-origin", r.origin, "-store", r.store}, args...)
	r.b.say("rangemirror %s %s, limit %d MB", strings.Join(o.Env, " "), strings.Join(args, " "), o.Limit/1e6)
	p, err := symptom.Start(o)
	if err != nil {
		return mirrored{}, err
	}
	late := false
	select {
	case <-p.Ended():
	case <-ctx.Done():
	case <-time.After(3 * time.Minute):
		late = true
	}
	f, err := p.Stop()
	if late {
		err = errors.Join(err, fmt.Errorf("rangemirror did not end: %s", said))
	}
	return mirrored{f, strings.Count(said.String(), ".tar ")}, errors.Join(err, ctx.Err())
}
