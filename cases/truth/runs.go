package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/cases/internal/symptom"
	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

// runs does every run of a case's truth.json, faulty and repaired, and holds
// its outcome and its time against what is said there.
func runs(ctx context.Context, b *bench, name string) ([]comparison, error) {
	t, err := truthfile.Read(name)
	if err != nil {
		return nil, err
	}
	for _, p := range t.Packages {
		if _, err := b.build(ctx, p); err != nil {
			return nil, err
		}
	}
	var all []comparison
	for _, f := range t.Faults {
		for _, r := range f.Runs {
			c, err := runBoth(ctx, b, f.Name, r)
			if err != nil {
				return all, fmt.Errorf("%s: %w", f.Name, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func runBoth(ctx context.Context, b *bench, fault string, r truthfile.Run) (comparison, error) {
	good, err := doRun(ctx, b, "none", r)
	if err != nil {
		return comparison{}, err
	}
	c := comparison{fault: fault, load: limitText(r), shows: good.as(r, r.Repaired),
		rows: []row{{"outcome, peak of the charge", "-", good.String()}}}
	if r.Faulty == nil {
		return c, nil
	}
	bad, err := doRun(ctx, b, fault, r)
	c.shows = c.shows && bad.as(r, *r.Faulty)
	c.rows[0].faulty = bad.String()
	return c, err
}

func limitText(r truthfile.Run) string {
	text := "no limit"
	if r.Limit > 0 {
		text = fmt.Sprintf("%d MB", r.Limit/1e6)
	}
	if r.Cold {
		text += ", read from disk"
	}
	return text
}

// ran is one run that was done.
type ran struct {
	symptom.Figures
	done bool
	took time.Duration // with its load, without what came before
}

func (d ran) as(r truthfile.Run, v truthfile.Verdict) bool {
	o := d.Outcome(d.done)
	hasEnd := !r.Stay && o != symptom.Livelock
	return slices.Contains(v.Outcomes, string(o)) && (!hasEnd || d.took < time.Duration(r.Seconds)*time.Second)
}

func (d ran) String() string {
	return fmt.Sprintf("%s after %.0f s, %s", d.Outcome(d.done), d.took.Seconds(), mib(d.Peak))
}

// doRun does one run as somebody would who has only truth.json.
func doRun(ctx context.Context, b *bench, fault string, r truthfile.Run) (d ran, err error) {
	dir, remove, err := b.folder()
	if err != nil {
		return d, err
	}
	defer remove()
	r, err = r.Expand(&truthfile.Values{Programs: b.dir, Dir: dir, Fault: fault, Address: symptom.FreeAddress})
	if err != nil {
		return d, err
	}
	b.say("%s, limit %d MB", strings.ReplaceAll(r.Command, b.dir+"/", ""), r.Limit/1e6)
	if r.Before != "" {
		if _, err := output(ctx, "sh", "-c", r.Before); err != nil {
			return d, err
		}
	}
	if r.Beside != "" {
		words := strings.Fields(r.Beside)
		stop, err := helper(ctx, os.Stderr, words[0], words[1:]...)
		if err != nil {
			return d, err
		}
		defer stop()
		if err := symptom.WaitFor(ctx, r.BesideReady); err != nil {
			return d, err
		}
	}
	words := strings.Fields(r.Command)
	p, err := symptom.Start(symptom.Options{Path: words[0], Args: words[1:], Dir: dir, Limit: r.Limit, Cold: r.Cold})
	if err != nil {
		return d, err
	}
	start := time.Now()
	d.done, err = drive(ctx, p, r)
	d.took = time.Since(start)
	f, stopping := p.Stop()
	d.Figures = f
	if d.Outcome(d.done) == symptom.Livelock {
		stopping = nil // it was too busy to answer
	}
	return d, errors.Join(err, stopping, ctx.Err())
}

// drive returns when the run's load has ended, or the program, or the time.
func drive(ctx context.Context, p *symptom.Program, r truthfile.Run) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.Seconds)*time.Second)
	defer cancel()
	if r.Ready != "" {
		if err := p.WaitFor(r.Ready); err != nil {
			return false, err
		}
	}
	if r.Load != "" {
		words := strings.Fields(r.Load)
		return exec.CommandContext(ctx, words[0], words[1:]...).Run() == nil, nil
	}
	select {
	case <-p.Ended():
		return true, nil
	case <-ctx.Done():
		return r.Stay, nil
	}
}
