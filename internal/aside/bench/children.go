package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const childrenFloor = 1.03

// children builds net/http with an empty cache, which starts a compiler for each package, by
// itself and under run, in turns.
func children(r *room) ([]row, error) {
	pairs := r.least(6)
	var alone, watched []float64
	for i := range pairs {
		for _, under := range []bool{i%2 == 0, i%2 != 0} {
			took, err := r.build(under, i)
			if err != nil {
				return nil, err
			}
			if under {
				watched = append(watched, took.Seconds())
			} else {
				alone = append(alone, took.Seconds())
			}
		}
	}
	p := sameP(alone, watched)
	without, with := median(alone), median(watched)
	return []row{{
		What: "`go build` of net/http with an empty cache under `run`, by the clock", Floor: "under 3 % longer",
		Figure: fmt.Sprintf("%+.1f %%", 100*(with/without-1)), Pass: with/without < childrenFloor,
		More: fmt.Sprintf("median %.1f s (%.1f to %.1f) against %.1f s (%.1f to %.1f), n = %d each, p = %.3f",
			with, watched[0], watched[len(watched)-1], without, alone[0], alone[len(alone)-1], pairs, p),
	}}, nil
}

// build says how long one build takes.
func (r *room) build(under bool, i int) (time.Duration, error) {
	cache, err := os.MkdirTemp(r.dir, "cache-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(cache) }()
	args := []string{"go", "build", "net/http"}
	if under {
		args = append([]string{r.tool, "run", "-q", "-o", filepath.Join(r.dir, fmt.Sprintf("build-%d.hwm", i)), "--"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "GOCACHE="+cache, "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0"), os.Stderr
	began := time.Now()
	err = cmd.Run()
	return time.Since(began), err
}
