package explain

import (
	"fmt"
	"math"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// TrendState says whether memory will get more.
type TrendState string

// The states of a trend.
const (
	TrendGrowing  TrendState = "growing"
	TrendFlat     TrendState = "flat"
	ComesAndGoes  TrendState = "comes-and-goes"
	NotEnoughData TrendState = "not-enough-data"
)

// What a trend can be of.
const (
	ofLiveHeap = "live heap"
	ofMemory   = "memory"
)

// Trend answers whether it will get worse. Amounts are bytes, and bytes a minute with 95 %
// confidence; Low and High are nil where there are too few readings for an interval.
type Trend struct {
	State      TrendState `json:"state"`
	Of         string     `json:"of"` // "live heap", or "memory" that cannot be reclaimed
	Readings   int        `json:"readings"`
	Seconds    float64    `json:"seconds"` // that they span
	PerMinute  float64    `json:"bytes_per_minute"`
	Low        *float64   `json:"low_bytes_per_minute"`
	High       *float64   `json:"high_bytes_per_minute"`
	GrownBytes float64    `json:"grown_bytes"`
	// Why there is not enough data, and what would be enough; "" else.
	Why   string `json:"why"`
	Needs string `json:"needs"`

	first, last float64 // bytes: of all readings, those of the warm-up with them
}

// trendAnswer is the trend of what the verdict is about, without what is no number: of memory outside the Go heap the
// live heap says nothing.
func (c *Case) trendAnswer(class Class) Trend {
	t := c.trend()
	if _, rose := c.nativeRose(); (rose || class == Native || class == Shmem) && t.State != TrendGrowing {
		all := c.memoryOnly()
		switch {
		case class == Native && c.nativeWaves(c.ledger.Row(sample.RowNative)) > 0:
			all.State = ComesAndGoes
			t = all
		case all.State == TrendGrowing:
			t = all
		}
	}
	for _, v := range []*float64{&t.PerMinute, &t.GrownBytes, &t.Seconds} {
		if math.IsNaN(*v) || math.IsInf(*v, 0) {
			*v = 0
		}
	}
	for _, v := range []**float64{&t.Low, &t.High} {
		if *v != nil && (math.IsNaN(**v) || math.IsInf(**v, 0)) {
			*v = nil
		}
	}
	return t
}

// trend is that of the live heap where it was read often enough, else of the memory that cannot
// be reclaimed: if that is flat, what is in it does not grow.
func (c *Case) trend() Trend {
	if c.readEnough() && !c.unwatchedEnd() {
		t := c.heapTrend()
		if t.State == TrendGrowing && c.site != nil && c.isHolderFull() {
			t.State = TrendFlat // that it grew is of the time before
		}
		return t
	}
	t := c.memoryOnly()
	if t.State == TrendFlat || c.g == nil && t.State != NotEnoughData {
		return t
	}
	t.State, t.Why = NotEnoughData, fmt.Sprintf("the live heap was %s in %s, so its growth cannot be judged", readTimes(c.rise.n), seconds(c.outcome.Elapsed))
	if c.g == nil && len(c.curve.points) == 0 && c.isGo(c.Subject) {
		t.Why = "the Go runtime was not read, so the live heap is unknown"
	}
	if t.Readings >= int(fewestReadings.v()) && t.GrownBytes > flatBytes.v() {
		t.Why += fmt.Sprintf(", while memory grew by %s", fsize(t.GrownBytes))
	}
	t.Needs = c.enoughWords()
	return t
}

// readEnough reports whether the live heap was read often enough to tell its trend: that it did not
// grow, readings of the warm-up help to tell.
func (c *Case) readEnough() bool {
	r := &c.rise
	return r.n >= int(fewestReadings.v()) || r.all >= int(fewestReadings.v()) && !(r.grown > 0 && r.material())
}

// stillOpenEnd reports whether so short a time was seen that a pause is no end: neither the live heap nor
// what the blamed line allocates had come to rest.
func (c *Case) stillOpenEnd() bool {
	return c.tooShort() && !(c.rise.late < cameToRest.v()) && !(c.lineLate() < lateGrowth.v())
}

// tooShort reports whether less time was seen after the warm-up than a rise must take.
func (c *Case) tooShort() bool { return c.outcome.Elapsed-c.rise.from < shortestRise.v() }

// wouldDouble reports whether it rose steadily, at a pace that would double the live heap within a minute.
func (r *rise) wouldDouble() bool { return r.mono && r.grown > 0 && r.low*60 > r.last }

// material reports whether it changed by enough to speak of.
func (r *rise) material() bool {
	return math.Abs(r.grown) > max(leastGrown.v(), flatShare.v()*r.last)
}

// wouldMatter reports whether it would have changed by enough to speak of, had it gone on for as long as a rise must take.
func (r *rise) wouldMatter() bool {
	longer := *r
	longer.grown *= max(1, shortestRise.v()/(r.to-r.from))
	return r.mono && r.grown > 0 && longer.material()
}

// Where a run was too short, one helps that is at least twice as long, and takes some seconds.
const (
	twice       = 2.0
	longestRest = 10 // seconds
)

// oftenEnough is the value of --heap that reads the live heap often enough in as long a run.
func (c *Case) oftenEnough() string {
	return fmt.Sprintf("every=%ds", int(max(1, c.outcome.Elapsed/enoughReadings.v())))
}

// open says why nobody knows how it goes on, and what would be enough to know.
func (t *Trend) open() string {
	if t.Needs == "" {
		return t.Why
	}
	return t.Why + ". Enough would be " + t.Needs
}

// enoughWords says what would be enough: more GCs, or captures of the heap.
func (c *Case) enoughWords() string {
	if c.Imported != "" {
		return "at least 3 heap profiles of one run"
	}
	if n := c.rise.n; n > 0 && c.outcome.Elapsed > 0 {
		longer := max(twice, enoughReadings.v()/float64(n))
		return fmt.Sprintf("a run of %s or longer, or --heap %s", seconds(max(longestRest, c.outcome.Elapsed*longer)), c.oftenEnough())
	}
	return "at least 3 GCs, or --heap every=5s"
}

// unwatchedEnd reports whether the last third of the time, in which the program allocated
// as much as it holds, has no reading.
func (c *Case) unwatchedEnd() bool {
	if c.rise.to >= 2*c.readUntil()/3 {
		return false
	}
	since := c.Ticks.grown(c.Ticks.Alloc, c.rise.to, c.readUntil())
	return !(since <= max(flatBytes.v(), flatShare.v()*c.rise.last)) // NaN: it may have
}

func (c *Case) heapTrend() Trend {
	r := &c.rise
	t := Trend{Of: ofLiveHeap, Readings: r.all, Seconds: r.to - r.from, GrownBytes: r.grown, last: r.last}
	if t.Seconds > 0 {
		t.PerMinute = 60 * r.grown / t.Seconds
	}
	if g := c.run.Growth; g != nil && g.Of == ofLiveHeap && !c.ofLine {
		low, high := g.Low/60, g.High/60
		t.PerMinute, t.Low, t.High = g.PerHour/60, &low, &high
	}
	if len(c.curve.points) > 0 {
		t.first = c.curve.points[0].live
	}
	t.State = c.heapState()
	if t.State == NotEnoughData {
		t.Needs = c.enoughWords()
		t.Why = fmt.Sprintf("the live heap grew by %s, but too few readings were taken to tell whether that continues", fsize(r.grown))
		switch {
		case c.readInBursts():
			t.Why = fmt.Sprintf("the live heap grew by %s, and GC ran only while the program allocated much: what was live in between is not known", fsize(r.grown))
		case r.n >= int(enoughReadings.v()) && c.tooShort():
			t.Why = fmt.Sprintf("the live heap grew by %s in %s, which is too short to tell whether that continues", fsize(r.grown), seconds(t.Seconds))
		case r.n >= int(enoughReadings.v()):
			t.Why = fmt.Sprintf("the live heap grew by %s in %s, but too unevenly to tell whether that continues", fsize(r.grown), seconds(t.Seconds))
		}
	}
	return t
}

// heapState is how the live heap went on. What is not known, NaN, counts for nothing: hence the negations.
func (c *Case) heapState() TrendState {
	r := &c.rise
	late, fell := !(c.late() < lateGrowth.v()), r.fall >= fellBack.v() || c.gone() >= fellBack.v()
	if !r.material() {
		return c.smallState()
	}
	switch {
	case r.low > 0 && late && !(c.lineLate() < lateGrowth.v()) && !fell:
		return TrendGrowing
	case r.returns > 0 || fell || c.swings():
		return ComesAndGoes
	case r.grown > 0 && c.mayStillGrow(late):
		return NotEnoughData
	}
	return TrendFlat
}

// mayStillGrow reports whether readings that rose do not show that the rise is over; late: it went on in the last third of the time.
func (c *Case) mayStillGrow(late bool) bool {
	return late && !(c.rise.low > 0 && c.rests()) || c.stillOpenEnd() || c.readInBursts()
}

// readInBursts reports whether since the live heap came to its height each reading fell into a burst of allocation, as large as all that was
// allocated since the one before, or larger: GC runs when much is allocated, and what was live in between, nobody looked at.
func (c *Case) readInBursts() bool {
	before, bursts := math.NaN(), 0
	for _, p := range c.curve.points {
		if p.at < c.rise.reached {
			continue
		}
		if took := p.at - before; took > 0 {
			within, all := c.Ticks.grown(c.Ticks.Alloc, p.at-took/10, p.at), c.Ticks.grown(c.Ticks.Alloc, before, p.at)
			if took < shortestRise.v() || !(within >= heldByRoot.v()*all) || within < float64(leastGrown.v()) {
				return false
			}
			bursts++
		}
		before = p.at
	}
	return bursts > 1
}

// swings reports whether many readings rose and fell by much, and show no growth for sure.
func (c *Case) swings() bool {
	r := &c.rise
	return r.n >= int(manyReadings.v()) && r.to-r.from >= longRise.v() && !(r.low > 0) && r.fall >= lateGrowth.v()
}

// rests reports whether the live heap had come to its height some time before the end, and was read there often enough.
func (c *Case) rests() bool {
	n := 0
	for _, p := range c.curve.points {
		if p.at >= c.rise.reached && !p.least {
			n++
		}
	}
	return n >= int(fewestReadings.v()) && c.rise.to-c.rise.reached >= (c.rise.to-c.rise.from)/4
}

// smallState is how a live heap went on that changed by little.
func (c *Case) smallState() TrendState {
	switch {
	case c.rise.returns > 0:
		return ComesAndGoes
	case c.tooShort() && (c.rise.wouldDouble() || c.rise.wouldMatter()):
		return NotEnoughData
	}
	return TrendFlat
}

func (c *Case) memoryOnly() Trend {
	line := c.memoryTrend()
	t := Trend{Of: ofMemory, Readings: line.N, Seconds: c.outcome.Elapsed * (1 - warmUp.v()), State: TrendFlat, last: c.hardPeak()}
	if hard := c.hard(); series.Min(hard) != series.None {
		t.first = hard[series.Min(hard)]
	}
	if line.N < int(fewestReadings.v()) || math.IsNaN(line.Slope) {
		t.State, t.Why = NotEnoughData, "memory was "+readTimes(line.N)
		return t
	}
	t.PerMinute, t.GrownBytes = 60*line.Slope, line.Slope*t.Seconds
	if !math.IsInf(line.Low, 0) {
		low, high := 60*line.Low, 60*line.High
		t.Low, t.High = &low, &high
	}
	grew := func(bytes float64) bool { return line.Low > 0 && bytes > max(flatBytes.v(), flatShare.v()*t.last) }
	switch {
	case grew(t.GrownBytes):
		t.State = TrendGrowing
	case t.Seconds < shortestRise.v() && grew(line.Slope*shortestRise.v()):
		t.State, t.Needs = NotEnoughData, c.enoughWords()
		t.Why = fmt.Sprintf("memory grew by %s in %s, which is too short to tell whether that continues", fsize(t.GrownBytes), seconds(t.Seconds))
	}
	return t
}

// words say how it went on, within a sentence.
func (t *Trend) words() string {
	switch t.State {
	case TrendGrowing:
		if pace := t.PerMinute * t.Seconds / 60; pace < 0.7*t.GrownBytes || pace > 1.4*t.GrownBytes { // not at one pace
			return fmt.Sprintf("%s grew by %s in the %s until the end", t.subject(), fsize(t.GrownBytes), seconds(t.Seconds))
		}
		return fmt.Sprintf("%s grew by %s until the end, at %s", t.subject(), fsize(t.GrownBytes), paceWords(t.PerMinute))
	case ComesAndGoes:
		return fmt.Sprintf("%s rose and fell%s", t.subject(), t.atEnd())
	case TrendFlat:
		if t.last > 2*t.first+leastGrown.v() {
			return fmt.Sprintf("%s stopped growing%s", t.subject(), t.atEnd())
		}
		return fmt.Sprintf("%s did not grow%s", t.subject(), t.atEnd())
	}
	return t.Why
}

// atEnd is where it ended, "" where the last reading says nothing.
func (t *Trend) atEnd() string {
	if t.last <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%s at the end)", fsize(t.last))
}

// subject is what the trend is of, as the subject of a sentence.
func (t *Trend) subject() string {
	if t.Of == ofMemory {
		return ofMemory
	}
	return "the " + t.Of
}

func (t *Trend) readingWords() string {
	if t.Of == ofLiveHeap {
		return count(t.Readings, "reading") + " of the live heap"
	}
	return count(t.Readings, "reading") + " of memory"
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
