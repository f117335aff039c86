package gomem_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// measured is runtime/metrics: single figures, and the counts of histograms by
// "name bound".
type measured map[string]float64

// saidMetrics is the program's own.
func (p *target) saidMetrics() measured {
	p.t.Helper()
	all := make(measured)
	for _, line := range p.ask("metrics") {
		name, value, _ := strings.Cut(line, " ")
		v, err := strconv.ParseFloat(value, 64)
		if err == nil {
			all[name] = v
			continue
		}
		buckets := strings.Split(value, ",")
		for _, b := range buckets[:len(buckets)-1] {
			bound, count, _ := strings.Cut(b, ":")
			if all[name+" "+bound], err = strconv.ParseFloat(count, 64); err != nil {
				p.t.Fatal(err)
			}
		}
		all[name+" "+buckets[len(buckets)-1]] = 0 // how many buckets
	}
	return all
}

// seenMetrics is what was read.
func (p *target) seenMetrics() (measured, *sample.RuntimeMetrics) {
	p.t.Helper()
	var m sample.RuntimeMetrics
	if err := p.stats.Metrics(&m); err != nil {
		p.t.Fatal(err)
	}
	all := make(measured)
	for _, v := range m.Values {
		all[v.Name] = v.Value
	}
	for _, h := range m.Histograms {
		for i, n := range h.Counts {
			if n != 0 {
				all[h.Name+" "+strconv.FormatFloat(h.Bounds[i], 'g', -1, 64)] = float64(n)
			}
		}
		all[fmt.Sprintf("%s n%d", h.Name, len(h.Counts))] = 0
	}
	return all, &m
}

// elsewhere are figures that differ between the program that looks at itself
// and one that waits while it is looked at.
var elsewhere = []string{
	"/sched/goroutines/running:goroutines", "/sched/goroutines/not-in-go:goroutines",
	"/sched/goroutines/waiting:goroutines", "/sched/goroutines/runnable:goroutines",
}

func TestMetricsAreThoseOfThePackageRuntimeMetrics(t *testing.T) {
	for _, b := range matrix() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b)
			p.ask("allocate 100000")
			p.ask("goroutines 20")
			p.ask("gc")
			p.ask("allocate 1000")
			p.sameMetrics()
		})
	}
}

// sameMetrics compares every figure that the program's version has. The program
// may still be at work on the last command, so it gets some tries.
func (p *target) sameMetrics() {
	p.t.Helper()
	var diff []string
	for range 5 {
		before := p.saidMetrics()
		seen, m := p.seenMetrics()
		after := p.saidMetrics()
		if diff = outside(before, seen, after, m.Missing); len(diff) == 0 {
			break
		}
	}
	if len(diff) > 0 {
		p.t.Errorf("%s", strings.Join(diff, "\n"))
	}
}

// outside lists what is not what the program says. What its scheduler counts
// while it answers must lie between two answers.
func outside(before, seen, after measured, missing []sample.MissingMetric) (diff []string) {
	for name, want := range before {
		got, ok := seen[name]
		switch {
		case slices.Contains(elsewhere, name) && ok:
		case strings.HasPrefix(name, "/godebug/") && missing[len(missing)-1].Name == "/godebug/non-default-behavior/*:events":
		case strings.HasPrefix(name, "/sched/latencies") && want <= got && got <= after[name]:
		case !ok || got != want:
			diff = append(diff, fmt.Sprintf("%s is %v, read as %v, %v", name, want, got, ok))
		}
	}
	for name := range seen {
		_, ok := after[name]
		if figure, _, isHistogram := strings.Cut(name, " "); !ok && isHistogram && before.has(figure) {
			diff = append(diff, name+" is empty")
		}
	}
	return diff
}

// has says whether the program has the histogram.
func (m measured) has(histogram string) bool {
	for name := range m {
		if strings.HasPrefix(name, histogram+" ") {
			return true
		}
	}
	return false
}

func TestWhatCannotBeReadOfTheMetricsIsNamed(t *testing.T) {
	for toolchain, want := range map[string][]string{
		"go1.20.14": {"/gc/cleanups/executed:cleanups", "/sched/pauses/total/gc:seconds", "/godebug/non-default-behavior/*:events"},
		"go1.27.2":  {"/godebug/non-default-behavior/*:events"},
	} {
		p := start(t, build{toolchain: toolchain, mode: "exe"})
		_, m := p.seenMetrics()
		for _, name := range want {
			i := slices.IndexFunc(m.Missing, func(m sample.MissingMetric) bool { return m.Name == name })
			if i < 0 || m.Missing[i].Why == "" {
				t.Errorf("%s: %s is not named as missing in %v", toolchain, name, m.Missing)
			}
		}
		if toolchain == "go1.27.2" && len(m.Missing) != 1 {
			t.Errorf("%s: %v are missing", toolchain, m.Missing)
		}
	}
}
