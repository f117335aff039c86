package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fix is a setting or limit that an answer prints with a prediction.
type fix struct {
	Text    string `json:"text"`
	State   string `json:"state"`
	Outlook string `json:"outlook"`
	Setting string `json:"setting"`
	Limit   int64  `json:"limit_bytes"`
}

// survives reports whether the program is predicted to live with it.
func (f *fix) survives() bool {
	return f.State == "predicted" && strings.HasPrefix(f.Outlook, "survives")
}

// proof counts what became of the fixes that were tried.
type proof struct{ fixes, held, runs, killed int }

// prove tries every fix that is predicted to survive, of each run that is recorded already: times runs of the same
// program, as long as before, under the recorded limit or the one that the fix names. A fix holds where the
// kernel killed none of them.
func (b *bench) prove(ctx context.Context, runs []*run, times int) error {
	if err := b.open(); err != nil {
		return err
	}
	var all proof
	for _, r := range runs {
		recording := filepath.Join(b.dir, r.name+".hwm")
		if _, err := os.Stat(recording); err != nil || ctx.Err() != nil {
			continue
		}
		fixes, err := b.fixes(ctx, recording)
		if err != nil {
			return err
		}
		for _, f := range fixes {
			if f.survives() {
				if err := b.try(ctx, r, f, times, &all); err != nil {
					return err
				}
			}
		}
	}
	fmt.Printf("\n%d of %d fixes that were predicted to survive did, in all of %d runs each (%d runs, %d killed)\n", all.held, all.fixes, times, all.runs,
		all.killed)
	return ctx.Err()
}

// fixes are what highwater prints for a recording.
func (b *bench) fixes(ctx context.Context, recording string) ([]fix, error) {
	var answer struct {
		Fixes []fix `json:"fixes"`
	}
	return answer.Fixes, b.explain(ctx, recording, &answer)
}

// explain reads an answer, which may be that nothing is known for sure.
func (b *bench) explain(ctx context.Context, recording string, answer any) error {
	out, err := exec.CommandContext(ctx, b.tool, "explain", "--json", recording).Output()
	if notSure := new(exec.ExitError); err != nil && !errors.As(err, &notSure) {
		return err
	}
	if err := json.Unmarshal(out, answer); err != nil {
		return fmt.Errorf("explain %s: %w", filepath.Base(recording), err)
	}
	return nil
}

// try does a run again with a fix.
func (b *bench) try(ctx context.Context, base *run, f fix, times int, all *proof) error {
	r := *base
	r.setting = f.Setting
	if f.Limit > 0 {
		r.Limit = f.Limit
	}
	killed := 0
	for n := range times {
		file := filepath.Join(b.dir, fmt.Sprintf("proof-%s-%d.hwm", r.name, n))
		program, _, err := b.builder.build(ctx, &r)
		if err != nil {
			return err
		}
		if _, err := b.record(ctx, &r, program, file); err != nil {
			return fmt.Errorf("%s with %s: %w", r.name, f.Text, err)
		}
		dead, err := b.killed(ctx, file)
		if err != nil {
			return err
		}
		if all.runs++; dead {
			killed++
		} else {
			os.Remove(file)
		}
	}
	all.fixes++
	all.killed += killed
	if killed == 0 {
		all.held++
	}
	log.Printf("%-34s %-24s limit %5d MiB  %s: killed in %d of %d", r.name, f.Text, r.Limit/mib, f.Outlook, killed, times)
	return nil
}

// killed reports whether the kernel killed what was recorded.
func (b *bench) killed(ctx context.Context, recording string) (bool, error) {
	var answer struct {
		Outcome struct {
			Killed bool `json:"killed_by_kernel"`
		} `json:"outcome"`
	}
	err := b.explain(ctx, recording, &answer)
	return answer.Outcome.Killed, err
}
