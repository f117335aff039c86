package latency

import (
	"sort"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

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
	// Coincides means that it takes more than a third of their time and a fifth more than of all, and hardly by chance.
	Coincides bool `json:"coincides"`
}

// Bounds of what is said about slow requests.
const (
	shifts      = 199
	rare        = 0.01
	fewEpisodes = 3
	mostSlow    = 1000
)

// slowRequests finds the slow ones: slow is what only one in a hundred exceeds, or one in twenty where those waited in
// too few episodes, if that is also five times what the fastest tenth takes and 10 ms more: else nothing was in its way.
func (run *Run) slowRequests(list []sample.Request, l *Latency) Slow {
	if l.P99 == nil {
		return Slow{}
	}
	least := max(5*l.p10, l.p10+int64(10*time.Millisecond))
	s, spans := run.waitsOf(list, max(*l.P99, least))
	if s.Requests > 0 && s.Episodes < fewEpisodes {
		s, spans = run.waitsOf(list, max(l.p95, least))
	}
	if s.Requests == 0 {
		return Slow{}
	}
	from, to := run.seconds(list[0].Due), run.seconds(list[len(list)-1].Due)+1e-3
	to = max(to, spans[len(spans)-1].To)
	for _, cause := range run.causesOfWaits() {
		s.Causes = append(s.Causes, tie(cause.name, spans, cause.when, from, to))
	}
	sorting.Stable(s.Causes, func(a, b Tie) int {
		if a.Coincides != b.Coincides {
			if a.Coincides {
				return -1
			}
			return 1
		}
		return int(1000 * (b.OfSlow - b.OfAll - a.OfSlow + a.OfAll))
	})
	return s
}

// waitsOf are the times in which requests waited that took so long, or longer.
func (run *Run) waitsOf(list []sample.Request, threshold int64) (Slow, []Stretch) {
	var spans []Stretch
	for _, r := range list {
		if r.Timed() && int64(r.Latency()) >= threshold && len(spans) < mostSlow {
			due := run.seconds(r.Due)
			spans = append(spans, Stretch{due, due + r.Latency().Seconds()})
		}
	}
	s := Slow{Threshold: threshold, Requests: len(spans)}
	spans = United(spans)
	s.Episodes = len(spans)
	return s, spans
}

type waitCause struct {
	name string
	when []Stretch
}

func (run *Run) causesOfWaits() []waitCause {
	return []waitCause{{"collections", run.Marks}, {"stalls", run.Stalls}, {"reclaim", run.Reclaims}, {"highwater", run.Moments}}
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
	t.Coincides = len(slow) >= fewEpisodes && t.Chance <= rare && t.OfSlow > 1.0/3 && t.OfSlow > t.OfAll+0.2
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
