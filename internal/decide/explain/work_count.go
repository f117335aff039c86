package explain

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// loadCounts are the last words of loads that count their requests: wrk,
// redis-benchmark, ab, vegeta, k6, h2load, and the line that docs/json.md gives to
// loads of one's own.
var loadCounts = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\s*(\d+) requests in [\d.]+\w+, `),
	regexp.MustCompile(`(?m)^\s*(\d+) requests completed in [\d.]+ seconds`),
	regexp.MustCompile(`(?m)^Complete requests:\s+(\d+)\s*$`),
	regexp.MustCompile(`(?m)^Requests\s+\[total, rate(?:, throughput)?\]\s+(\d+),`),
	regexp.MustCompile(`(?m)^\s*http_reqs\.*:\s+(\d+)\s`),
	regexp.MustCompile(`(?m)^requests: (\d+) total,`),
	regexp.MustCompile(`(?m)^\S+: (\d+) in \S+ \(\d+ a second\), \d+ failed\s*$`), // those of this repository's cases
	regexp.MustCompile(`(?m)^highwater: (\d+) requests\s*$`),
}

// byLoad divides the growth over the load by what it counted.
func (c *Case) byLoad() *Work {
	n, from, to, ok := c.loadCount()
	g := c.run.Growth
	if !ok || n == 0 || g == nil || g.Of != "live heap" || g.Low <= 0 {
		return nil
	}
	first, last := c.curve.floorAt(from), c.curve.floorAt(to)
	if last-first < 4*float64(sample.MiB) {
		return nil
	}
	w := &Work{Of: "live heap", PerUnit: (last - first) / n, Units: n, Equal: []string{}, Clear: true}
	w.Sentence = fmt.Sprintf("the live heap grew by about %s for each of the %s requests that the load counted", unitSize(w.PerUnit), thousands(n))
	return w
}

// loadCount is how many requests the load says it made, and from when to when.
func (c *Case) loadCount() (n, from, to float64, ok bool) {
	for _, e := range c.Events {
		switch e.Kind {
		case sample.EventLoadStart:
			from = c.seconds(e.At)
		case sample.EventLoadEnd:
			to = c.seconds(e.At)
			n, ok = RequestsIn(e.Text)
		}
	}
	return n, from, to, ok
}

// RequestsIn is the sum of what a load's last words count; ok is false for words that
// are none of the known.
func RequestsIn(text string) (n float64, ok bool) {
	for _, form := range loadCounts {
		for _, found := range form.FindAllStringSubmatch(text, -1) {
			v, err := strconv.ParseFloat(found[1], 64)
			if err == nil {
				n, ok = n+v, true
			}
		}
		if ok {
			return n, true
		}
	}
	return 0, false
}

// floorAt is the live heap at the reading nearest to an instant.
func (c curve) floorAt(at float64) float64 {
	best := c.points[0]
	for _, p := range c.points {
		if math.Abs(p.at-at) < math.Abs(best.at-at) {
			best = p
		}
	}
	return best.live
}
