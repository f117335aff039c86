package trial

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// longest is the longest latency that is believed of a load.
const longest = 24 * time.Hour

// LoadLatencies are the percentiles that a load prints itself, by the names of their
// figures: the last table of those that are known. Other output is left alone.
//
// Known are the tables of wrk and wrk2 (--latency), hey, oha, k6, vegeta and
// redis-benchmark, and a line of names (p50 p99 max ...) above a line of durations.
func LoadLatencies(output string) map[string]float64 {
	lines := strings.Split(output, "\n")
	var last latencies
	for i := range lines {
		for _, read := range []func([]string) latencies{distribution, k6, vegeta, namedColumns} {
			if found := read(lines[i:]); len(found) > 0 {
				last = found
			}
		}
	}
	figures := map[string]float64{}
	for percent, name := range map[float64]string{50: FigureLoadP50, 95: FigureLoadP95, 99: FigureLoadP99} {
		if took, ok := last[percent]; ok {
			figures[name] = float64(took)
		}
	}
	return figures
}

// latencies are percentiles of one table, by percent.
type latencies map[float64]time.Duration

func (l latencies) add(percent, duration string) {
	p, err := strconv.ParseFloat(percent, 64)
	took, ok := tookOf(duration)
	if err == nil && ok {
		l[p] = took
	}
}

// tookOf reads "635.91us", "0.0016 secs", "2.1ms", "1m3.5s".
func tookOf(text string) (time.Duration, bool) {
	text = strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	d, err := time.ParseDuration(strings.Replace(text, "secs", "s", 1))
	return d, err == nil && d >= 0 && d <= longest
}

var (
	distributionHead = regexp.MustCompile(`(?i)^\s*(latency|response time) distribution\b`)
	distributionRow  = regexp.MustCompile(`^\s*(\d+(?:\.\d+)?)%+\s+(?:in\s+)?([0-9.]+\s*(?:ns|us|µs|ms|secs|s|m))\s*$`)
)

// distribution is the table of wrk ("  99%    2.87ms"), wrk2 ("99.000%    2.87ms"), hey
// ("  99% in 0.0045 secs") and oha ("  99.00% in 0.0045 secs"), each below its title.
// What wrk2 calls uncorrected leaves out the waits that the server caused.
func distribution(lines []string) latencies {
	if !distributionHead.MatchString(lines[0]) || strings.Contains(lines[0], "Uncorrected") {
		return nil
	}
	found := latencies{}
	for _, line := range lines[1:] {
		m := distributionRow.FindStringSubmatch(line)
		if m == nil {
			break
		}
		found.add(m[1], m[2])
	}
	return found
}

var k6Value = regexp.MustCompile(`\b(med|p\((\d+(?:\.\d+)?)\))=(\S+)`)

// k6 is its line of all requests:
//
//	http_req_duration..............: avg=117ms min=90ms med=112ms max=204ms p(90)=131ms p(95)=149ms
func k6(lines []string) latencies {
	if !strings.HasPrefix(strings.TrimSpace(lines[0]), "http_req_duration.") {
		return nil
	}
	found := latencies{}
	for _, m := range k6Value.FindAllStringSubmatch(lines[0], -1) {
		if m[1] == "med" {
			m[2] = "50"
		}
		found.add(m[2], m[3])
	}
	return found
}

var vegetaLine = regexp.MustCompile(`^Latencies\s+\[([^\]]+)\]\s+(\S.*)$`)

// vegeta is the line of its text report:
//
//	Latencies     [min, mean, 50, 90, 95, 99, max]  1.1ms, 2.3ms, 2.1ms, 3ms, 4ms, 5ms, 9ms
func vegeta(lines []string) latencies {
	m := vegetaLine.FindStringSubmatch(lines[0])
	if m == nil {
		return nil
	}
	names, values := strings.Split(m[1], ","), strings.Split(m[2], ",")
	if len(names) != len(values) {
		return nil
	}
	found := latencies{}
	for i, name := range names {
		found.add(strings.TrimSpace(name), values[i])
	}
	return found
}

// namedColumns is a line of names above one of durations. redis-benchmark's have no
// unit: that stands in the line before.
//
//	latency summary (msec):
//	        avg       min       p50       p95       p99       max
//	      0.301     0.096     0.295     0.431     0.519     1.479
func namedColumns(lines []string) latencies {
	unit := ""
	if strings.HasSuffix(strings.TrimSpace(lines[0]), "latency summary (msec):") {
		unit, lines = "ms", lines[1:]
	}
	if len(lines) < 2 {
		return nil
	}
	names, values := strings.Fields(lines[0]), strings.Fields(lines[1])
	if len(names) != len(values) {
		return nil
	}
	found := latencies{}
	for i, name := range names {
		if percent, ok := strings.CutPrefix(name, "p"); ok {
			found.add(percent, values[i]+unit)
		}
	}
	return found
}

// addLoadLatencies takes what a load says of itself, where no probe measured.
func (r *Run) addLoadLatencies(output string) {
	if _, measured := r.Values[FigureP50]; measured {
		return
	}
	maps.Copy(r.Values, LoadLatencies(output))
}
