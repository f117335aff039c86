package app

import (
	"path/filepath"

	"github.com/highwater-go/highwater/internal/decide/trial"
)

// reproductions is how often the base may run to show its fault.
const reproductions = 3

type TryFlags struct {
	TrialFlags
	Limit, Bench, Build, HTML string
	Sweeps, Refs              []string
	Runs                      int
	Compare, JSON             bool
	RunRecorded               bool
}

// Try is a trial that is possible as far as flags can tell.
type Try struct {
	TryFlags
	*stage
	variants   []variant
	reproduced trial.Reproduced
	runs       []trial.Run
	causes     []string // fingerprints that the base's lost runs have, each once
	proof      *proof   // it is of a recording's fixes; nil: of commands that were given
}

func (f TryFlags) Plan(args []string, dash int) (*Try, error) {
	variants, err := f.variants(args, dash)
	if err != nil {
		return nil, err
	}
	if f.Runs < 1 || f.Runs > 1000 {
		return nil, Usagef("--runs 6", "--runs %d is not between 1 and 1000", f.Runs)
	}
	if f.Build != "" && len(f.Refs) == 0 {
		return nil, Usagef("add --git REF", "--build builds what --git checks out, but there is no --git")
	}
	if f.Limit == "" && f.Expect == "" && !f.Compare {
		return nil, Usagef("--limit 256MiB, --expect 300MiB, or --compare where there is no fault", "the fault of the base is not defined")
	}
	t := &Try{TryFlags: f, variants: variants}
	for _, v := range variants {
		if v.ref == "" { // what a worktree brings is looked for there
			if _, err := f.flagsFor(f.Limit, "").Plan(v.command.Args); err != nil {
				return nil, err
			}
		}
	}
	t.stage, err = f.stage(filepath.Base(variants[0].command.Args[0]) + "-try")
	return t, err
}
