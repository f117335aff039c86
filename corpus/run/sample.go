package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/highwater-go/highwater/corpus/truth"
)

// sample chooses n runs of the families by seed: each family once a round, faulty
// and repaired in turns. A run depends on seed, family and round alone, so that a
// new family changes no other's.
func sample(seed uint64, n int, from []*family) (all []*run) {
	for round := 0; len(all) < n; round++ {
		for _, f := range from {
			if len(all) < n {
				all = append(all, newRun(seed, f, round))
			}
		}
	}
	return all
}

func newRun(seed uint64, f *family, round int) *run {
	key := fnv.New64a()
	fmt.Fprint(key, f.name, " ", round)
	rng := rand.New(rand.NewPCG(seed, key.Sum64()))
	faulty := !f.innocent && round%2 == 0
	r := &run{family: f, faulty: faulty, Run: truth.Run{
		Seconds:    pick(rng, 2.0, 2, 8, 8, 8, 8, 25, 25),
		LimitKind:  pick(rng, "none", "none", "none", "far", "near", "killed", "killed"),
		Background: pick(rng, "none", "none", "cache", "cache", "json", "pagecache"),
		GOGC:       pick(rng, "", "", "", "", "50", "200"),
		Stopped:    rng.IntN(2) == 0,
		Stripped:   rng.IntN(4) == 0,
		Toolchain:  pick(rng, "", "", "", "", "", "", "", "", "", "", "go1.22.12", "go1.24.13"),
		Unit:       16 << 10,
	}}
	if rng.IntN(16) == 0 {
		r.Seconds = 65
	}
	soft := rng.IntN(8) == 0
	f.shape(r, rng)
	if soft && r.Limit > 0 && r.GOMEMLIMIT == 0 && r.soft == 0 {
		r.GOMEMLIMIT = r.Limit * 9 / 10
	}
	if f.cgo {
		r.Toolchain = "" // one C compiler, one Go
	}
	r.name = fmt.Sprintf("%s-%s-%02d-s%d", f.name, word(r), round, seed)
	return r
}

func word(r *run) string {
	switch {
	case r.faulty:
		return "faulty"
	case r.innocent:
		return "innocent"
	}
	return "repaired"
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// chosen are the families with the given names, which may be those of sets. Where
// there is none it is all but the others.
func chosen(given []string) (some []*family, err error) {
	var names []string
	for _, n := range given {
		if set := sets[n]; set != nil {
			names = append(names, set...)
		} else {
			names = append(names, n)
		}
	}
	for _, f := range families {
		if len(names) == 0 && !slices.Contains(others, f) || slices.Contains(names, f.name) {
			some = append(some, f)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(families, func(f *family) bool { return f.name == n }) {
			return nil, fmt.Errorf("no family %q: run -list prints them", n)
		}
	}
	return some, nil
}
