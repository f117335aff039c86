package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// fixedJob compares the CPU time that a program's own threads take for the same
// work unwatched, watched, and watched with every thread traced, one after the
// other so that what else happens on the machine is met by all.
func fixedJob(r *room) ([]row, error) {
	ways := []struct {
		name  string
		flags []string // of run; nil: unwatched
		cpu   []float64
	}{
		{name: "unwatched"},
		{name: "watched", flags: []string{}},
		{name: "watched with --follow-forks", flags: []string{"--follow-forks"}},
	}
	rounds := r.least(14)
	for i := range rounds {
		for j := range ways {
			w := &ways[(i+j)%len(ways)]
			cpu, err := r.jobCPU(w.flags, fmt.Sprintf("job-%d-%d.hwm", i, j))
			if err != nil {
				return nil, err
			}
			w.cpu = append(w.cpu, cpu.Seconds())
		}
	}
	var rows []row
	for _, w := range ways[1:] {
		rows = append(rows, jobRow(w.name, ways[0].cpu, w.cpu))
	}
	rows[1].Floor, rows[1].Pass = "", true // an option that says it costs something
	return rows, nil
}

// alpha is below which two samples are taken to differ.
const alpha = 0.05

// jobRow compares a way of watching with none. Within noise is: the two cannot
// be told apart, or are apart by less than one percent.
func jobRow(name string, alone, watched []float64) row {
	p := sameP(alone, watched)
	without, with := median(alone), median(watched)
	ratio := with / without
	return row{
		What: "CPU of the program for a fixed job, " + name, Floor: "within noise of unwatched",
		Figure: fmt.Sprintf("%.3f x", ratio), Pass: p > alpha || ratio < 1.01,
		More: fmt.Sprintf("median %.3f s (%.3f to %.3f) against %.3f s (%.3f to %.3f), n = %d each, p = %.3f",
			with, watched[0], watched[len(watched)-1], without, alone[0], alone[len(alone)-1], len(watched), p),
	}
}

// jobCPU is the CPU time that the job says it took.
func (r *room) jobCPU(flags []string, recording string) (time.Duration, error) {
	name, args := r.target, []string{"-sites", "1000", "-do", "job", "-rounds", "150"}
	if flags != nil {
		run := append([]string{"run", "-q", "-o", filepath.Join(r.dir, recording)}, flags...)
		args = append(append(run, "--", r.target), args...)
		name = r.tool
	}
	p, err := start(name, args...)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	text, err := p.line("cpu")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, err
	}
	return time.Duration(n), p.end()
}

// goodHost is what the fixed job takes on a machine like this one that nobody else uses. Floors
// in time are those of such a machine.
const goodHost = 1300 * time.Millisecond

// fixedTime is the CPU time of the fixed job, three times.
func (r *room) fixedTime() (cpu []float64, err error) {
	for range 3 {
		one, err := r.jobCPU(nil, "")
		if err != nil {
			return nil, err
		}
		cpu = append(cpu, one.Seconds())
	}
	slices.Sort(cpu)
	return cpu, nil
}

// machineSpeed says how fast the machine was before and after all else, by three runs each.
func machineSpeed(before, after []float64) string {
	least, most := min(before[0], after[0]), max(before[2], after[2])
	return fmt.Sprintf("the fixed job takes %.2f s of CPU before and %.2f s after (%.2f to %.2f), %.2f s on a good host: times are %.1f times as long here",
		before[1], after[1], least, most, goodHost.Seconds(), (before[1]+after[1])/2/goodHost.Seconds())
}
