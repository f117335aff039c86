package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/highwater-go/highwater/cases/internal/symptom"
)

// watched is one run of trafficagent on a file of packets.
type watched struct {
	symptom.Figures
	took  time.Duration // until the file was read
	atEnd uint64        // bytes live then
}

type agentRuns struct {
	b         *bench
	path, dir string
}

func trafficagent(ctx context.Context, b *bench) (all []comparison, err error) {
	r := agentRuns{b: b}
	if r.path, err = b.build(ctx, "./trafficagent"); err != nil {
		return nil, err
	}
	dir, remove, err := b.folder()
	if err != nil {
		return nil, err
	}
	defer remove()
	r.dir = dir
	for _, measure := range []func(context.Context) (comparison, error){r.hole, r.hashreflect, r.visitor, r.regexp, r.readall} {
		c, err := measure(ctx)
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (r agentRuns) hole(ctx context.Context) (comparison, error) {
	bad, good, err := r.both(ctx, "hole", true, "-requests", "0", "-blob", "300")
	if err != nil {
		return comparison{}, err
	}
	n, share, err := under(bad.Last, "trafficagent", "hole", "inuse_space")
	return comparison{fault: "hole", load: "a lost segment, then 300 MiB on its stream; every allocation profiled", rows: []row{
		{"in use under the marked line at the end", underText(n, share), "-"},
		{"live when the stream had ended", mib(bad.atEnd), mib(good.atEnd)},
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
	}, shows: n > 450<<20 && share > 0.9 && bad.atEnd > 450<<20 && good.atEnd < 60<<20}, err
}

func (r agentRuns) hashreflect(ctx context.Context) (comparison, error) {
	return r.churn(ctx, "hashreflect", 0.45)
}
func (r agentRuns) visitor(ctx context.Context) (comparison, error) {
	return r.churn(ctx, "visitor", 0.12)
}
func (r agentRuns) regexp(ctx context.Context) (comparison, error) {
	return r.churn(ctx, "regexp", 0.3)
}

// churn compares what a fault allocates with what it holds. The profile of every
// allocation is of a short run: the stacks of walks over nested values are many,
// and keeping them all makes the agent some twenty times slower.
func (r agentRuns) churn(ctx context.Context, fault string, least float64) (comparison, error) {
	profiled, _, err1 := r.both(ctx, fault, true, "-requests", "40")
	bad, good, err2 := r.both(ctx, fault, false, "-requests", "600")
	if err := errors.Join(err1, err2); err != nil {
		return comparison{}, err
	}
	n, share, err := under(profiled.Last, "trafficagent", fault, "alloc_space")
	return comparison{fault: fault, load: "600 exchanges from a file", rows: []row{
		{"allocated under the marked line, by 40 of them, every allocation profiled", underText(n, share), "-"},
		both("allocated by the whole run", bad.Figures, good.Figures, allocated),
		counts("collections", bad.Cycles, good.Cycles),
		{"live at the end", mib(bad.atEnd), mib(good.atEnd)},
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
		took(bad.took, good.took),
	}, shows: share >= least && bad.Allocated > good.Allocated*11/10 && bad.atEnd < good.atEnd+10<<20}, err
}

func (r agentRuns) readall(ctx context.Context) (comparison, error) {
	bad, good, err := r.both(ctx, "readall", true, "-requests", "40", "-exports", "8", "-export", "64")
	if err != nil {
		return comparison{}, err
	}
	n, share, err := under(bad.Last, "trafficagent", "readall", "alloc_space")
	return comparison{fault: "readall", load: "8 exports of 64 MiB, in gzip, among 40 exchanges; every allocation profiled", rows: []row{
		{"allocated under the marked line", underText(n, share), "-"},
		both("allocated by the whole run", bad.Figures, good.Figures, allocated),
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
		{"live at the end", mib(bad.atEnd), mib(good.atEnd)},
	}, shows: n >= 8*64<<20 && bad.Anon > 3*good.Anon && bad.atEnd < 30<<20}, err
}

// both writes a file of traffic and has it read with a fault, then repaired.
func (r agentRuns) both(ctx context.Context, fault string, every bool, traffic ...string) (bad, good watched, err error) {
	file := filepath.Join(r.dir, "traffic.pcap")
	if _, err := output(ctx, r.path, append(append([]string{"-write", file}, traffic...), "traffic")...); err != nil {
		return bad, good, err
	}
	if bad, err = r.run(ctx, file, fault, every); err != nil {
		return bad, good, err
	}
	good, err = r.run(ctx, file, "none", every)
	return bad, good, err
}

func (r agentRuns) run(ctx context.Context, file, fault string, every bool) (w watched, err error) {
	r.b.say("trafficagent -fault %s", fault)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	said := new(printed)
	start := time.Now()
	p, err := symptom.Start(symptom.Options{Path: r.path, Log: said, EveryAllocation: every, Args: []string{"-read", file, "-stay", "-fault", fault}})
	if err != nil {
		return w, err
	}
	reading := said.waitFor(ctx, "the file is read", p.Ended())
	w.took = time.Since(start)
	if reading == nil {
		w.atEnd, reading = p.LiveNow()
	}
	w.Figures, err = p.Stop()
	if reading == nil && !strings.Contains(said.String(), "exchanges") {
		reading = errors.New("trafficagent did not say what it saw")
	}
	return w, errors.Join(reading, err)
}
