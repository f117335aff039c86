package explain

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
)

// Latency is how long the program's answers took. Durations are nanoseconds, of
// requests that were due at fixed times, from when they were due.
type Latency struct {
	Probe    string  `json:"probe"`
	Requests int     `json:"requests"` // timed, those without an answer too: their latency is that or more
	Recorded int64   `json:"recorded"` // more than that, where a long recording was thinned to be read
	NoAnswer int     `json:"no_answer"`
	Failed   int     `json:"failed"` // not timed
	PerSec   float64 `json:"requests_per_second"`

	// The percentiles by the nearest rank; nil where fewer than 100, 1,000 requests
	// tell of them.
	P50  int64  `json:"p50_ns"`
	P90  int64  `json:"p90_ns"`
	P99  *int64 `json:"p99_ns"`
	P999 *int64 `json:"p999_ns"`
	Max  int64  `json:"max_ns"`

	Histogram []LatencyBucket `json:"histogram"` // without empty ends
	Course    []LatencyStep   `json:"course"`
	Failures  []Failure       `json:"failures"` // most first
	Slow      Slow            `json:"slow"`
	Sentence  string          `json:"sentence"`
}

// LatencyBucket counts the requests that took From or longer, and less than To.
type LatencyBucket struct {
	From     int64 `json:"from_ns"`
	To       int64 `json:"to_ns"`
	Requests int   `json:"requests"`
}

// LatencyStep is a part of the run. P50 and Max are nil where no request was due.
type LatencyStep struct {
	At       float64 `json:"at_seconds"`
	Requests int     `json:"requests"`
	P50      *int64  `json:"p50_ns"`
	Max      *int64  `json:"max_ns"`
}

// Failure is why requests had no answer, other than that they waited too long.
type Failure struct {
	Why      string `json:"why"`
	Requests int    `json:"requests"`
}

// courseSteps is how many parts a run is shown in.
const courseSteps = 20

// latencyOf is nil where no request was timed or failed.
func latencyOf(c *Case) *Latency {
	list := c.Asked.Requests
	if len(list) == 0 {
		return nil
	}
	l := &Latency{Probe: c.Asked.Probe, Recorded: c.Asked.All, Histogram: []LatencyBucket{}, Course: []LatencyStep{}, Failures: []Failure{}}
	var took []int64
	for _, r := range list {
		switch {
		case !r.Timed():
			l.Failed++
			l.fail(r.Failure)
			continue
		case r.Failure != "":
			l.NoAnswer++
		}
		took = append(took, int64(r.Latency()))
	}
	slices.SortStableFunc(l.Failures, func(a, b Failure) int { return b.Requests - a.Requests })
	slices.Sort(took)
	l.Requests = len(took)
	if length := list[len(list)-1].Due.Sub(list[0].Due).Seconds(); length > 0 {
		l.PerSec = float64(len(list)-1) / length
	}
	if len(took) > 0 {
		l.measure(took)
		l.Course = c.latencyCourse(list)
		l.Slow = c.slowRequests(list, l)
	}
	l.Slow.Causes = append([]Tie{}, l.Slow.Causes...)
	l.Sentence = c.slowWords(l)
	return l
}

func (l *Latency) fail(why string) {
	for i := range l.Failures {
		if l.Failures[i].Why == why {
			l.Failures[i].Requests++
			return
		}
	}
	if len(l.Failures) < 10 {
		l.Failures = append(l.Failures, Failure{why, 1})
	}
}

// measure fills in what sorted latencies say.
func (l *Latency) measure(took []int64) {
	l.P50, l.P90, l.Max = nearestRank(took, 0.5), nearestRank(took, 0.9), took[len(took)-1]
	if len(took) >= 100 {
		p := nearestRank(took, 0.99)
		l.P99 = &p
	}
	if len(took) >= 1000 {
		p := nearestRank(took, 0.999)
		l.P999 = &p
	}
	for from, step := firstBucket(took[0]), 0; from <= l.Max; step++ {
		to := nextBucket(from)
		first, _ := slices.BinarySearch(took, from)
		end, _ := slices.BinarySearch(took, to)
		l.Histogram = append(l.Histogram, LatencyBucket{from, to, end - first})
		from = to
	}
}

// nearestRank is the value that the share of sorted values does not exceed.
func nearestRank(sorted []int64, share float64) int64 {
	rank := int(math.Ceil(share*float64(len(sorted)) - 1e-9))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// firstBucket is the greatest bound of 1, 2, 5, 10, ... microseconds that is no more
// than a latency; 0 below one.
func firstBucket(ns int64) int64 {
	at := int64(0)
	for nextBucket(at) <= ns {
		at = nextBucket(at)
	}
	return at
}

// nextBucket is the bound after one.
func nextBucket(from int64) int64 {
	if from == 0 {
		return int64(time.Microsecond)
	}
	lead := from
	for lead >= 10 {
		lead /= 10
	}
	if lead == 2 {
		return from / 2 * 5
	}
	return from * 2
}

// latencyCourse divides the run.
func (c *Case) latencyCourse(list []sample.Request) []LatencyStep {
	first, last := c.seconds(list[0].Due), c.seconds(list[len(list)-1].Due)
	width := (last - first) / courseSteps
	if width <= 0 {
		return []LatencyStep{}
	}
	steps := make([]LatencyStep, courseSteps)
	took := make([][]int64, courseSteps)
	for _, r := range list {
		if r.Timed() {
			i := min(courseSteps-1, int((c.seconds(r.Due)-first)/width))
			took[i] = append(took[i], int64(r.Latency()))
		}
	}
	for i := range steps {
		steps[i] = LatencyStep{At: first + float64(i)*width, Requests: len(took[i])}
		if len(took[i]) > 0 {
			slices.Sort(took[i])
			median, most := nearestRank(took[i], 0.5), took[i][len(took[i])-1]
			steps[i].P50, steps[i].Max = &median, &most
		}
	}
	return steps
}

// Slow is what is known of the slowest requests: whether they coincide with
// something that could have made them wait.
type Slow struct {
	Threshold int64 `json:"threshold_ns"` // what is called slow; 0: nothing was
	Requests  int   `json:"requests"`
	// Episodes are stretches of time in which one or more of them waited.
	Episodes int   `json:"episodes"`
	Causes   []Tie `json:"causes"`
}

// Tie is how slow requests and one possible cause coincide.
type Tie struct {
	Cause string `json:"cause"` // "collections", "stalls", "reclaim", "highwater"
	// OfSlow is the part of the slow requests' time in which it went on, OfAll that
	// of all the time.
	OfSlow float64 `json:"share_of_slow_time"`
	OfAll  float64 `json:"share_of_time"`
	// Chance is how often so much coincides when the requests are moved along the
	// run together: 1/200 is the least that can be told.
	Chance float64 `json:"chance"`
	// Coincides: more than a third of their time, and hardly by chance.
	Coincides bool `json:"coincides"`
}

// Bounds of what is said about slow requests.
const (
	shifts      = 199
	rare        = 0.01
	fewEpisodes = 3
	mostSlow    = 1000
)

// slowRequests: slow is what only one in a hundred exceeds, if that is also five
// times the median and 10 ms more. That there are waits of the usual length is no
// question.
func (c *Case) slowRequests(list []sample.Request, l *Latency) Slow {
	if l.P99 == nil {
		return Slow{}
	}
	threshold := max(*l.P99, 5*l.P50, l.P50+int64(10*time.Millisecond))
	var spans []Stretch
	for _, r := range list {
		if r.Timed() && int64(r.Latency()) >= threshold && len(spans) < mostSlow {
			due := c.seconds(r.Due)
			spans = append(spans, Stretch{due, due + r.Latency().Seconds()})
		}
	}
	if len(spans) == 0 {
		return Slow{}
	}
	s := Slow{Threshold: threshold, Requests: len(spans)}
	spans = united(spans)
	s.Episodes = len(spans)
	from, to := c.seconds(list[0].Due), c.seconds(list[len(list)-1].Due)+1e-3
	to = max(to, spans[len(spans)-1].To)
	for _, cause := range c.causesOfWaits() {
		s.Causes = append(s.Causes, tie(cause.name, spans, cause.when, from, to))
	}
	slices.SortStableFunc(s.Causes, func(a, b Tie) int {
		if a.Coincides != b.Coincides {
			return rank(b.Coincides) - rank(a.Coincides)
		}
		return int(1000 * (b.OfSlow - b.OfAll - a.OfSlow + a.OfAll))
	})
	return s
}

type waitCause struct {
	name string
	when []Stretch
}

func (c *Case) causesOfWaits() []waitCause {
	a := c.Asked
	return []waitCause{{"collections", a.Marks}, {"stalls", a.Stalls}, {"reclaim", a.Reclaims}, {"highwater", a.Moments}}
}

// tie compares how much of the slow requests' time a cause covers with how much it
// does when they are moved along the run, all by the same time, again and again. So
// neither that waits are long nor that they come in groups counts as coincidence.
func tie(name string, slow, when []Stretch, from, to float64) Tie {
	t := Tie{Cause: name, Chance: 1}
	cover := newCover(when, from, to)
	length := 0.0
	for _, s := range slow {
		length += s.To - s.From
	}
	if length <= 0 || cover.all <= 0 {
		return t
	}
	share := func(by float64) float64 {
		sum := 0.0
		for _, s := range slow {
			sum += cover.around(s.From+by, s.To+by)
		}
		return sum / length
	}
	t.OfSlow, t.OfAll = share(0), cover.all/(to-from)
	as := 1
	for i := 1; i <= shifts; i++ {
		if share((to-from)*float64(i)/(shifts+1)) >= t.OfSlow-1e-9 {
			as++
		}
	}
	t.Chance = float64(as) / (shifts + 1)
	t.Coincides = len(slow) >= fewEpisodes && t.Chance <= rare && t.OfSlow > 1.0/3
	return t
}

// cover tells how much of a time stretches cover, on a circle from from to to.
type cover struct {
	from, to float64
	list     []Stretch // within, disjoint, ascending
	sums     []float64 // covered before each
	all      float64
}

func newCover(list []Stretch, from, to float64) *cover {
	c := &cover{from: from, to: to}
	for _, s := range list {
		s = Stretch{max(s.From, from), min(s.To, to)}
		if s.From >= s.To {
			continue
		}
		c.list, c.sums = append(c.list, s), append(c.sums, c.all)
		c.all += s.To - s.From
	}
	return c
}

// until is how much is covered before an instant within.
func (c *cover) until(at float64) float64 {
	i := sort.Search(len(c.list), func(i int) bool { return c.list[i].From >= at })
	if i == 0 {
		return 0
	}
	return c.sums[i-1] + min(at, c.list[i-1].To) - c.list[i-1].From
}

// around is how much is covered from a to b, which may lie beyond the end once.
func (c *cover) around(a, b float64) float64 {
	length := c.to - c.from
	if a >= c.to {
		a, b = a-length, b-length
	}
	if b <= c.to {
		return c.until(b) - c.until(a)
	}
	return c.all - c.until(a) + c.until(min(b-length, c.to))
}

// slowWords says in a sentence or two what the slow requests coincide with.
func (c *Case) slowWords(l *Latency) string {
	s := l.Slow
	switch {
	case l.Requests == 0:
		return "No request had an answer: " + l.Failures[0].Why
	case l.P99 == nil:
		return "Too few requests to tell slow ones from others"
	case s.Requests == 0:
		return "None was slow: 99 of 100 were answered within " + duration(*l.P99)
	}
	text := fmt.Sprintf("%s of %s or more, in %s", count(s.Requests, "wait"), duration(s.Threshold), count(s.Episodes, "episode"))
	if s.Episodes < fewEpisodes {
		return text + ": too few to tell what they coincide with" + c.hintOf(s)
	}
	first := s.Causes[0]
	if !first.Coincides {
		return text + ", do not coincide with " + c.notWith(s)
	}
	text += fmt.Sprintf(": %s of that time %s, which is so %s of all the time (by chance: %s)",
		share(first.OfSlow), causeWords[first.Cause], share(first.OfAll), chance(first.Chance))
	if first.Cause == "collections" {
		text += c.assistWords()
	}
	return text
}

// causeWords say what went on.
var causeWords = map[string]string{"collections": "the garbage collector marked", "stalls": "tasks waited for memory",
	"reclaim": "the kernel reclaimed memory at the limit or read pages again", "highwater": "highwater itself read the program's memory"}

// hintOf names what went on in the few episodes that there are.
func (c *Case) hintOf(s Slow) string {
	if first := s.Causes[0]; first.OfSlow > 1.0/2 && first.OfAll < 1.0/4 {
		return fmt.Sprintf("; in %s of that time %s", share(first.OfSlow), causeWords[first.Cause])
	}
	return ""
}

// notWith lists what was looked at, with its figures.
func (c *Case) notWith(s Slow) string {
	var parts []string
	for _, t := range s.Causes {
		if t.OfAll > 0 && t.Cause != "highwater" {
			parts = append(parts, fmt.Sprintf("%s (%s of their time, %s of all)", t.Cause, share(t.OfSlow), share(t.OfAll)))
		}
	}
	if len(parts) == 0 {
		return "anything seen: no collection, no stall, no reclaim"
	}
	return list(parts, "or")
}

// assistWords say how much the program's own goroutines had to help the collector.
func (c *Case) assistWords() string {
	grown := c.Asked.Assists.grown()
	if math.IsNaN(grown) || grown < 0.05 {
		return ""
	}
	return fmt.Sprintf("; goroutines that allocated had to help it for %s of CPU time", seconds(grown))
}

// grown is how far a counter rose from its first reading to its last.
func (s Series) grown() float64 {
	first, last := math.NaN(), math.NaN()
	for _, v := range s.Value {
		if math.IsNaN(first) {
			first = v
		}
		if !math.IsNaN(v) {
			last = v
		}
	}
	return last - first
}

// share is a part in percent.
func share(part float64) string {
	switch {
	case part > 0 && part < 0.01:
		return "less than 1%"
	case part < 1 && part > 0.99:
		return "more than 99%"
	}
	return fmt.Sprintf("%.0f%%", 100*part)
}

// chance is a probability in words.
func chance(p float64) string {
	if p <= 1.0/(shifts+1) {
		return fmt.Sprintf("less than 1 in %d", shifts+1)
	}
	return fmt.Sprintf("1 in %.0f", 1/p)
}

// duration is a latency with as many digits as say something.
func duration(ns int64) string {
	d := time.Duration(ns)
	if d < 100*time.Millisecond && d >= time.Millisecond {
		return strings.Replace(fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)), ".0 ms", " ms", 1)
	}
	if d < time.Millisecond {
		return fmt.Sprintf("%d µs", d.Microseconds())
	}
	return units.Duration(d)
}

// factLatency is the table of percentiles as evidence.
func (l *Latency) factLatency() Fact {
	f := Fact{ID: "latency", Values: map[string]int64{"requests": int64(l.Requests), "no_answer": int64(l.NoAnswer), "failed": int64(l.Failed),
		"p50_ns": l.P50, "p90_ns": l.P90, "max_ns": l.Max}}
	if l.P99 != nil {
		f.Values["p99_ns"] = *l.P99
	}
	if l.P999 != nil {
		f.Values["p999_ns"] = *l.P999
	}
	f.Text = l.Line() + ". " + l.Sentence
	return f
}

// Line is the percentiles in one line.
func (l *Latency) Line() string {
	if l.Requests == 0 {
		return fmt.Sprintf("%s of %s, none answered", count(l.Failed, "request"), l.Probe)
	}
	text := fmt.Sprintf("%s of %s: p50 %s, p90 %s", count(l.Requests, "request"), l.Probe, duration(l.P50), duration(l.P90))
	if l.P99 != nil {
		text += ", p99 " + duration(*l.P99)
	}
	if l.P999 != nil {
		text += ", p99.9 " + duration(*l.P999)
	}
	text += ", max " + duration(l.Max)
	if l.NoAnswer > 0 {
		text += fmt.Sprintf("; %d had no answer in time", l.NoAnswer)
	}
	if l.Failed > 0 {
		text += fmt.Sprintf("; %d failed (%s)", l.Failed, l.Failures[0].Why)
	}
	return text
}
