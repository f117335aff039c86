package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/highwater-go/highwater/cases/internal/symptom"
	"github.com/highwater-go/highwater/cases/raftcache/cluster"
)

// raftRun is what was seen of a node under its load.
type raftRun struct {
	symptom.Figures
	printed string
	sets    uint64
	atEnd   uint64 // bytes live after the load
}

// raftcache measures one node alone: three share the work of a SET among as
// many processes, and the two processors here with it.
func raftcache(ctx context.Context, b *bench) ([]comparison, error) {
	server, err := b.build(ctx, "./raftcache")
	if err != nil {
		return nil, err
	}
	loader, err := b.build(ctx, "./raftcache/load")
	if err != nil {
		return nil, err
	}
	profiled := func(fault string) (raftRun, error) { return raft(ctx, b, server, loader, fault, 30, true) }
	counted := func(fault string) (raftRun, error) { return raft(ctx, b, server, loader, fault, 50, false) }
	lines, err := deferLines(profiled)
	if err != nil {
		return nil, err
	}
	growth, err := deferGrowth(counted)
	return []comparison{lines, growth}, err
}

func deferLines(run func(fault string) (raftRun, error)) (comparison, error) {
	bad, err1 := run("deferloop")
	good, err2 := run("none")
	s, first, err3 := siteOf(bad.Figures, "raftcache", "deferloop", "inuse_space")
	sites := symptom.Sites(bad.Profile, "inuse_space")
	around := uint64(0) // the captured variables stand in the lines above
	for _, at := range sites {
		if at.Function == s.Function && at.Line < s.Line && at.Line >= s.Line-2 {
			around += uint64(at.Bytes)
		}
	}
	return comparison{fault: "deferloop", load: "SETs by 64 clients for 30 s, every allocation profiled", rows: []row{
		{"SETs", fmt.Sprint(bad.sets), fmt.Sprint(good.sets)},
		{"in use at the marked line", siteText(s), "-"},
		{"in use at the variables that it captures", mib(around), "-"},
		{"live when the load had ended", mib(bad.atEnd), mib(good.atEnd)},
	}, shows: first && around > 0}, errors.Join(err1, err2, err3)
}

func deferGrowth(run func(fault string) (raftRun, error)) (comparison, error) {
	bad, err1 := run("deferloop")
	good, err2 := run("none")
	over := func(r raftRun) string { return fmt.Sprint(number(r.printed, `100 ms or longer: (\d+)`)) }
	return comparison{fault: "deferloop", load: "SETs by 64 clients for 50 s", rows: []row{
		{"SETs", fmt.Sprint(bad.sets), fmt.Sprint(good.sets)},
		{"live when the load had ended", mib(bad.atEnd), mib(good.atEnd)},
		{"live bytes a SET", each(bad), each(good)},
		both("anonymous memory, peak", bad.Figures, good.Figures, anon),
		{"collections", fmt.Sprint(bad.Cycles), fmt.Sprint(good.Cycles)},
		{"p50, p99, p99.9, longest", latencies(bad.printed), latencies(good.printed)},
		{"SETs of 100 ms or longer", over(bad), over(good)},
	}, shows: bad.atEnd > 20*bad.sets && good.atEnd < 20<<20}, errors.Join(err1, err2)
}

func each(r raftRun) string { return fmt.Sprintf("%.0f", float64(r.atEnd)/float64(max(r.sets, 1))) }

func raft(ctx context.Context, b *bench, server, loader, fault string, seconds int, every bool) (r raftRun, err error) {
	dir, remove, err := b.folder()
	if err != nil {
		return r, err
	}
	defer remove()
	members, err1 := symptom.FreeAddress()
	clients, err2 := symptom.FreeAddress()
	if err := errors.Join(err1, err2); err != nil {
		return r, err
	}
	b.say("raftcache -fault %s, %d s", fault, seconds)
	program, err := symptom.Start(symptom.Options{Path: server, EveryAllocation: every, Dir: dir,
		Args: []string{"-peers", cluster.Peers([]string{members}, []string{clients}), "-data", filepath.Join(dir, "n1"), "-sync=false", "-fault", fault}})
	if err != nil {
		return r, err
	}
	var loading error
	if loading = program.WaitFor(clients); loading == nil {
		r.printed, loading = output(ctx, loader, "-nodes", clients, "-seconds", strconv.Itoa(seconds))
		r.sets = number(r.printed, `SET: (\d+) in`)
		if loading == nil {
			r.atEnd, loading = program.LiveNow()
		}
	}
	r.Figures, err = program.Stop()
	return r, errors.Join(loading, err)
}

// number is the first group of a pattern in what a load printed, or 0.
func number(printed, pattern string) uint64 {
	m := regexp.MustCompile(pattern).FindStringSubmatch(printed)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseUint(m[1], 10, 64)
	return n
}

// latencies takes p50, p99, p99.9 and the maximum from a latency report.
func latencies(printed string) string {
	m := regexp.MustCompile(`max\n\s*(\S+)\s+\S+\s+\S+\s+(\S+)\s+\S+\s+(\S+)\s+(\S+)`).FindStringSubmatch(printed)
	if m == nil {
		return "not printed"
	}
	return m[1] + ", " + m[2] + ", " + m[3] + ", " + m[4]
}
