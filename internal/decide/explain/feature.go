package explain

import (
	"math"

	"github.com/highwater-go/highwater/internal/measure/series"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Feature is one measurement of a recording, which verdicts rest on. Missing says why
// there is no Value; "" means that there is one.
type Feature struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	N       int     `json:"n,omitempty"` // readings behind it
	Unit    string  `json:"unit"`
	Source  string  `json:"source"` // what it was measured from
	Missing string  `json:"missing,omitempty"`
}

// measure is a row of the table of features: how one is got from a case. NaN means
// that it was not seen.
type measure struct {
	name, unit, source string
	of                 func(*Case) (value float64, n int)
}

// Where features come from.
const (
	fromOutcome    = "how the program ended"
	fromKernel     = "the cgroup's or the process's memory figures"
	fromReadings   = "collections, captures of the heap and the mark at the moment"
	fromProfile    = "the heap profiles of the run"
	fromGoroutines = "the stacks of goroutines at moments of the run"
	fromCapture    = "the capture of the heap nearest to the moment"
	fromRuntime    = "the Go runtime's counters"
)

// measures are all features, by kind. A new one is a row here.
var measures = []measure{
	{"run.seconds", "seconds", fromOutcome, func(c *Case) (float64, int) { return c.outcome.MomentElapsed, 1 }},
	{"run.killed", "yes or no", fromOutcome, func(c *Case) (float64, int) { return yes(c.outcome.Kernel), 1 }},
	{"run.ended", "yes or no", fromOutcome, func(c *Case) (float64, int) { return yes(c.endedWell()), 1 }},
	{"run.job", "yes or no", fromOutcome, func(c *Case) (float64, int) { return yes(c.isJob()), 1 }},
	{"run.crashed", "yes or no", fromOutcome, func(c *Case) (float64, int) { return yes(c.crashed()), 1 }},
	{"run.cores", "cores", fromKernel, func(c *Case) (float64, int) { return c.cores(), 1 }},
	{"run.running", "of the looks", fromGoroutines, func(c *Case) (float64, int) { return c.running(), c.looks() }},
	{"run.paced", "yes or no", fromGoroutines, func(c *Case) (float64, int) { return c.paced(), c.looks() }},
	{"run.serves", "yes or no", fromGoroutines, func(c *Case) (float64, int) { return c.servesAny(), 1 }},
	{"need.share", "of the limit", fromKernel, needShare},
	{"spike.ratio", "times", fromKernel, func(c *Case) (float64, int) { return c.spikeRatio(), len(c.Ticks.At) }},
	{"memory.growth", "bytes a minute", fromKernel, memoryGrowth},
	{"memory.flat", "yes or no", fromKernel, func(c *Case) (float64, int) { return c.memoryFlat(), c.memoryTrend().N }},
	{"live.untouched", "of the live heap", fromKernel, func(c *Case) (float64, int) {
		return c.unwritten(), 1
	}},
	{"growth.readings", "readings", fromReadings, func(c *Case) (float64, int) { return float64(c.rise.n), c.rise.n }},
	{"growth.seconds", "seconds", fromReadings, ofRise(func(r *rise) float64 { return r.to - r.from })},
	{"growth.bytes", "bytes", fromReadings, ofRise(func(r *rise) float64 { return r.grown })},
	{"growth.share", "of the live heap", fromReadings, ofRise(func(r *rise) float64 { return r.grown / r.last })},
	{"growth.least", "bytes a second", fromReadings, ofRise(func(r *rise) float64 { return r.low })},
	{"growth.late", "of even growth", fromReadings, func(c *Case) (float64, int) {
		return c.late(), c.rise.n
	}},
	{"growth.unwatched", "yes or no", fromReadings, func(c *Case) (float64, int) { return yes(c.unwatchedGrowth()), c.rise.n }},
	{"growth.fall", "of the rise", fromReadings, ofRise(func(r *rise) float64 { return r.fall })},
	{"growth.returns", "times", fromReadings, ofRise(func(r *rise) float64 { return float64(r.returns) })},
	{"growth.gone", "of what was above its floor", fromReadings, func(c *Case) (float64, int) { return c.gone(), c.rise.n }},
	{"growth.sudden", "yes or no", fromReadings, func(c *Case) (float64, int) { return yes(c.rise.isSudden()), c.rise.n }},
	{"growth.slowing", "yes or no", fromReadings, func(c *Case) (float64, int) { return yes(c.slowsDown()), c.rise.n }},
	{"line.share", "of the live heap", fromProfile, ofLine(func(c *Case) float64 { return float64(c.site.Bytes) / float64(max(1, c.live.bytes)) })},
	{"line.freed", "of what was allocated", fromProfile, ofLine((*Case).freedShare)},
	{"line.passing", "of what was allocated", fromProfile, ofLine((*Case).passing)},
	{"line.aged", "of what is held", fromProfile, ofLine(func(c *Case) float64 { return c.site.aged(c.rise.from, c.rise.to) })},
	{"line.late", "of even growth", fromProfile, ofLine((*Case).lineLate)},
	{"line.turnover", "of what was held half-way", fromProfile, ofLine((*Case).turnover)},
	{"line.whole_values", "values", fromProfile, ofLine(func(c *Case) float64 { return float64(c.wholeValues()) })},
	{"line.kept", "yes or no", fromProfile, ofLine(func(c *Case) float64 { return yes(c.retainsByDesign()) })},
	{"calls.now", "calls", fromGoroutines, ofCalls(func(f *callCorrelation) float64 { return float64(f.calls) })},
	{"calls.unseen", "goroutines", fromGoroutines, ofCalls(func(f *callCorrelation) float64 { return float64(f.running) })},
	{"calls.left", "of what is held", fromGoroutines, func(c *Case) (float64, int) {
		return ofCalls(func(f *callCorrelation) float64 { return c.leftBehind(f) })(c)
	}},
	{"calls.follow", "correlation", fromGoroutines, ofCalls(func(f *callCorrelation) float64 { return f.correlation })},
	{"calls.standing", "yes or no", fromGoroutines, ofCalls(func(f *callCorrelation) float64 { return yes(f.standing) })},
	{"calls.even", "yes or no", fromGoroutines, func(c *Case) (float64, int) { return yes(c.evenCalls()), 1 }},
	{"calls.none", "yes or no", fromGoroutines, ofCalls(func(f *callCorrelation) float64 { return yes(f.calls == 0 && f.running == 0 && f.one == nil) })},
	{"calls.one", "yes or no", fromGoroutines, func(c *Case) (float64, int) { return yes(c.oneCallEnded()), 1 }},
	{"calls.gather", "seconds", fromGoroutines, ofCalls(func(f *callCorrelation) float64 { return f.gather })},
	{"calls.reserve", "yes or no", fromGoroutines, func(c *Case) (float64, int) { return yes(c.site != nil && c.reserves()), 1 }},
	{"calls.open", "yes or no", fromGoroutines, func(c *Case) (float64, int) { return c.openCall(), 1 }},
	{"run.flat_out", "yes or no", fromRuntime, func(c *Case) (float64, int) { return c.flatOut(), 1 }},
	{"calls.request", "yes or no", fromProfile, ofLine(func(c *Case) float64 { return yes((c.site.serves() || c.site.Awaited != nil) && c.inFlight.calls > 0) })},
	{"root.lasting", "of what is held", fromCapture, func(c *Case) (float64, int) { return c.kept.lasting, 1 }},
	{"root.frames", "of what is held", fromCapture, func(c *Case) (float64, int) { return unless(c.standIdle() || c.evenCalls(), c.kept.frames), 1 }},
	{"root.pooled", "of what is held", fromCapture, func(c *Case) (float64, int) { return c.kept.pooled, 1 }},
	{"root.stacks", "yes or no", fromCapture, func(c *Case) (float64, int) {
		return yes(c.retainerOf(c.site).isCalls() && !c.standIdle() && !c.evenCalls() && !c.heldByLoops()), 1
	}},
	{"root.returned", "yes or no", fromCapture, func(c *Case) (float64, int) { return c.holderReturned(), 1 }},
	{"root.unknown", "yes or no", fromCapture, func(c *Case) (float64, int) {
		return yes(c.Imported == "" && math.IsNaN(c.kept.lasting) && !(c.inFlight.left >= leftBehind.v())), 1
	}},
	{"holder.full", "yes or no", fromCapture, ofLine(func(c *Case) float64 { return yes(c.isHolderFull()) })},
	{"queue.share", "of what is held", fromCapture, func(c *Case) (float64, int) { return c.queued(), 1 }},
	{"queue.senders", "goroutines", fromGoroutines, func(c *Case) (float64, int) { return c.senders(), 1 }},
	{"stacks.share", "of the memory", fromKernel, func(c *Case) (float64, int) { return c.stacksShare(), 1 }},
	{"threads", "threads", fromKernel, func(c *Case) (float64, int) { return c.threads(), 1 }},
}

// features are the measurements of one case, by name.
type features map[string]Feature

// measureAll measures everything once.
func (c *Case) measureAll() features {
	out := make(features, len(measures))
	for _, m := range measures {
		v, n := m.of(c)
		f := Feature{Name: m.name, Value: v, N: n, Unit: m.unit, Source: m.source}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			f.Value, f.Missing = 0, "not seen in this recording"
		}
		out[m.name] = f
	}
	return out
}

// get is a feature's value; ok is false where it was not seen.
func (f features) get(name string) (v float64, ok bool) {
	one, known := f[name]
	return one.Value, known && one.Missing == ""
}

// Measurement is what a verdict rests on, in the form of --features.
type Measurement struct {
	Schema   string     `json:"schema"`
	Features []Feature  `json:"features"`
	Weighed  []Weighing `json:"weighed"`
	Judged   []Judged   `json:"judged"`
}

// FeaturesSchema names the form of a Measurement in JSON.
const FeaturesSchema = "highwater.features/1"

// Weighing is the evidence for one class: the clauses that hold, and their sum.
type Weighing struct {
	Class   Class            `json:"class"`
	Score   float64          `json:"score"`
	Clauses []WeighingClause `json:"clauses"`
}

// WeighingClause is one clause that holds.
type WeighingClause struct {
	Feature string  `json:"feature"`
	Weight  float64 `json:"weight"`
}

// Judged is what one rule says of its class.
type Judged struct {
	Class  Class        `json:"class"`
	Stance string       `json:"stance"` // "speaks", "open" or "silent"
	Bytes  sample.Bytes `json:"bytes"`
	Reason string       `json:"reason"`
}

// Measure measures a recording's evidence and says how it is weighed.
func Measure(e *Evidence) Measurement {
	c := newCase(e)
	m := Measurement{Schema: FeaturesSchema, Features: []Feature{}, Weighed: []Weighing{}, Judged: []Judged{}}
	for _, one := range measures {
		m.Features = append(m.Features, c.features[one.name])
	}
	for _, r := range rules() {
		if r.Evidence != nil {
			m.Weighed = append(m.Weighed, weighing(r, c.features))
		}
	}
	for _, f := range judgeAll(c) {
		j := Judged{Class: f.Class, Stance: f.Stance.String(), Bytes: f.Bytes, Reason: f.Reason}
		if f.Stance == Speaks {
			j.Reason = f.Sentence
		}
		m.Judged = append(m.Judged, j)
	}
	return m
}

func weighing(r Rule, f features) Weighing {
	w := weigh(f, r.Evidence)
	out := Weighing{Class: r.Class, Score: w.score, Clauses: []WeighingClause{}}
	for _, k := range w.fired {
		out.Clauses = append(out.Clauses, WeighingClause{k.feature, k.weight})
	}
	return out
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// unless is v, 0 where something else is so.
func unless(b bool, v float64) float64 {
	if b {
		return 0
	}
	return v
}

func ofRise(of func(*rise) float64) func(*Case) (float64, int) {
	return func(c *Case) (float64, int) {
		if c.rise.n == 0 {
			return math.NaN(), 0
		}
		return of(&c.rise), c.rise.n
	}
}

func ofLine(of func(*Case) float64) func(*Case) (float64, int) {
	return func(c *Case) (float64, int) {
		if c.site == nil {
			return math.NaN(), 0
		}
		return of(c), len(c.site.Course) + 1
	}
}

func ofCalls(of func(*callCorrelation) float64) func(*Case) (float64, int) {
	return func(c *Case) (float64, int) {
		if c.site == nil || !c.inFlight.read {
			return math.NaN(), 0
		}
		return of(&c.inFlight), len(c.site.Course) + 1
	}
}

func needShare(c *Case) (float64, int) {
	if c.bound == 0 || c.g == nil {
		return math.NaN(), 0
	}
	return float64(c.live.bytes+c.nonHeap()) / float64(c.bound), 1
}

// memoryGrowth is the slope of what cannot be reclaimed, after the warm-up.
func memoryGrowth(c *Case) (float64, int) {
	t := c.memoryTrend()
	return 60 * t.Slope, t.N
}

// servesAny is 1 where a goroutine waits for connections.
func (c *Case) servesAny() float64 {
	if c.goroutines() == nil {
		return math.NaN()
	}
	for _, g := range c.goroutines() {
		if stands(g.Where, accepts) {
			return 1
		}
	}
	return 0
}

// accepts is where a goroutine waits for the next connection, of whatever server.
const accepts = "internal/poll.(*FD).Accept"

// isFull reports whether nine tenths of a channel's room are taken, as a capture may come while an item is out.
func isFull(entries, room uint64) bool { return room > 0 && entries*10 >= room*9 }

// stacksShare is how much of the memory that cannot be reclaimed are stacks of goroutines.
func (c *Case) stacksShare() float64 {
	hard := c.ledger.Total.Sub(c.ledger.Row(sample.RowPageCache))
	if c.g == nil || hard == 0 {
		return math.NaN()
	}
	return float64(c.own.Row(sample.RowStacks)) / float64(hard)
}

// threadsFill reports whether memory outside Go may be the stacks of the subject's threads: C
// gives each of them a stack of its own, of which it touches some pages.
func (c *Case) threadsFill(native sample.Bytes) bool {
	return c.threads() >= threadStacks.v() && float64(native) <= c.threads()*threadTouched.v()
}

// threads is how many the subject had at the moment.
func (c *Case) threads() float64 {
	if c.proc == nil || c.proc.Resident == nil || c.proc.Resident.Threads == 0 {
		return math.NaN()
	}
	return float64(c.proc.Resident.Threads)
}

// openCall is 1 where the call that allocated the memory was in flight and none like it was
// seen to end: the memory may be its own. main.main is no such call: it does not return
// before the program ends.
func (c *Case) openCall() float64 {
	if c.site == nil || !c.inFlight.read {
		return math.NaN()
	}
	f := &c.inFlight
	r := &c.rise
	if c.evenCalls() || r.to-r.from >= longRise.v() && r.n >= int(manyReadings.v()) && r.fall < blamedPart.v() && float64(c.inFlight.calls) <= manyCalls.v() {
		return 0 // a few calls in which memory only grew for so long are loops
	}
	return yes(f.calls > 0 && !f.standing && !(f.left >= leftBehind.v()) && !(c.kept.lasting-c.kept.along >= heldByRoot.v() && c.heapAtMoment()))
}

// heapAtMoment reports whether the heap was captured at the moment itself, as at a kill.
func (c *Case) heapAtMoment() bool {
	return c.Heap != nil && math.Abs(c.seconds(c.Heap.At)-c.outcome.MomentElapsed) <= heldAtMost.v()
}

// memoryFlat is 1 where the memory that cannot be reclaimed did not grow by a part worth speaking of of
// what the live heap did, over the time in which that grew.
func (c *Case) memoryFlat() float64 {
	t := c.memoryTrend()
	if t.N < int(manyReadings.v()) || c.rise.n == 0 || c.rise.grown < flatOf.v()*c.hardPeak() || c.pressed || c.site != nil && c.retainsByDesign() {
		return math.NaN()
	}
	return yes(t.Slope*(c.rise.to-c.rise.from) < leastRise.v()*c.rise.grown)
}

// residentHeap is what of the Go heap has pages.
func (c *Case) residentHeap() sample.Bytes {
	if c.proc == nil || c.proc.Residency == nil || !c.proc.Residency.GoKnown {
		return 0
	}
	return c.proc.Residency.GoObjects
}

// unwritten is the part of what may be live that has no page: it was reserved and never written.
func (c *Case) unwritten() float64 {
	live, resident := float64(c.live.bytes), float64(c.residentHeap())
	if live == 0 || resident == 0 {
		return math.NaN()
	}
	return max(0, 1-resident/live)
}

// isJob reports whether the program came to its end by itself in a time in which slow growth does
// not show, and served nobody.
func (c *Case) isJob() bool {
	return c.endedWell() && !c.Watched && c.Load == "" && c.outcome.Elapsed < minStableRun.v() && c.servesAny() != 1 && c.paced() != 1
}

// retainsByDesign reports whether what is allocated at the line is kept by its nature
// and is more than a twentieth of the limit.
func (c *Case) retainsByDesign() bool {
	return c.keptByNature() && c.freedShare() <= freedLittle.v() && !(c.limit > 0 && c.rise.grown*20 < float64(c.limit))
}

// keptByNature reports whether many values of the blamed line are kept until something releases them, as its cause tells. One
// such value, or a few that are small, are what the program works with.
func (c *Case) keptByNature() bool {
	k := c.cause(Leak)
	few := c.site != nil && c.site.Objects > 0 && float64(c.site.Objects) < manyCalls.v() && float64(c.site.Bytes) < smallPeak.v()
	return k != nil && k.Kept && !few
}

// unwatchedGrowth reports whether nothing tells that the growth went on in the last third of the time:
// no reading, and no allocation at the line.
func (c *Case) unwatchedGrowth() bool {
	return c.rise.n > 0 && c.unwatchedEnd() && !(c.lineLate() >= lateGrowth.v()) && !(c.site != nil && c.retainsByDesign())
}

// flatOut is 1 where the program allocated without a pause from its start on, in a call
// that had not ended: as one does that loads its data, or a job at work.
func (c *Case) flatOut() float64 {
	cores := c.cores()
	if math.IsNaN(cores) || c.Watched || c.site == nil || c.outcome.MomentElapsed < 0.75*c.readUntil() {
		return math.NaN() // what went on after its peak was not cut short
	}
	running := c.inFlight.standing || c.inFlight.calls+c.inFlight.running > 0 && !(c.inFlight.left >= freedLittle.v()) || c.running() >= busyCore.v()
	return yes((cores >= busyCore.v() || c.running() >= busyCore.v()) && running && c.outcome.MomentElapsed < longestFirstRise.v() && c.servesAny() != 1)
}

// memoryTrend is the line through the floors of what cannot be reclaimed, after the warm-up.
func (c *Case) memoryTrend() series.Trend { return floorsOf(c.Ticks.At, c.hard(), c.outcome.Elapsed) }

// floorsOf is the line through the floors of a column after the warm-up of a run that ended
// then.
func floorsOf(at, column []float64, end float64) series.Trend {
	b := series.Resample(at, column, stretches)
	from := warmUp.v() * end
	for len(b.At) > int(manyReadings.v()) && b.At[0] < from {
		b.At, b.Min = b.At[1:], b.Min[1:]
	}
	return series.Line(b.At, b.Min)
}

// spikeRatio is how often the memory's usual size goes into its peak, both without what can be
// reclaimed.
func (c *Case) spikeRatio() float64 {
	if c.run.Footprint == nil || c.run.Footprint.P50 == 0 {
		return math.NaN()
	}
	return c.hardPeak() / float64(c.run.Footprint.P50)
}

// senders is how many goroutines wait to send into a channel.
func (c *Case) senders() float64 {
	if c.goroutines() == nil {
		return math.NaN()
	}
	n := 0
	for _, g := range c.goroutines() {
		if g.Reason == "chan send" {
			n += g.Count
		}
	}
	return float64(n)
}
