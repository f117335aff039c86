package explain

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// A program that is watched in a cgroup with others has no charge of its own: what it needed at most is its own
// anonymous memory, and not nothing.
func TestWhatAProgramNeededIsKnownWithoutACharge(t *testing.T) {
	s := newScene()
	for i := range s.Ticks.Usage {
		s.Ticks.Usage[i] = math.NaN()
	}
	s.Ticks.Anon[7] = 300 * float64(mib)
	s.Moment.Cgroup = nil
	if got := newCase(s.Evidence).hardPeak(); got != 300*float64(mib) {
		t.Errorf("%v MiB", got/float64(mib))
	}
}

// Of many peaks that are alike the last is explained, as most is known of what came before it.
func TestThePeakOfProcessesIsTheLastOfThoseAlike(t *testing.T) {
	var list []recording.MomentInfo
	for i, anon := range []float64{120, 262, 90, 250, 60} {
		list = append(list, recording.MomentInfo{ID: int64(i), At: began.Add(time.Duration(i) * time.Second), Kind: sample.MomentMax,
			Processes: []recording.ProcessMomentInfo{{Key: subject, Anon: sample.Some(bytesOf(anon))}}})
	}
	if got := peakMoment(list); got != 3 {
		t.Errorf("moment %d", got)
	}
	for i := range list {
		list[i].Processes[0].Anon = sample.Opt[sample.Bytes]{}
	}
	if got := peakMoment(list); got != 4 {
		t.Errorf("where no memory was read: moment %d", got)
	}
}

// What calls in flight hold does not stay: it counts above what does, also where no reading found it gone.
func TestCallsInFlightAreNoFloor(t *testing.T) {
	s := scenes["burst of uploads"]()
	c := newCase(s.Evidence)
	c.curve.min, c.curve.max = float64(c.live.bytes), float64(c.live.bytes)
	if got := c.liveSpike(); got < 2 {
		t.Errorf("the live heap is %v times what stays, with %v of %v in flight", got, size(c.inWork()), size(c.live.bytes))
	}
	c.inFlight.standing = true
	if got := c.liveSpike(); got != 1 {
		t.Errorf("of calls that stand all along %v times", got)
	}
}

// A burst of which nothing came is not said with high confidence.
func TestABurstThatDidNoHarmIsNotSure(t *testing.T) {
	s := scenes["work in flight in one of several processes"]()
	c := newCase(s.Evidence)
	if f := judgeBurst(c); f.Stance != Speaks || f.Confidence != High {
		t.Fatalf("%s %s", f.Stance, f.Confidence)
	}
	c.pressed, c.outcome.Kernel, c.limit = false, false, 0
	if f := judgeBurst(c); f.Stance == Speaks && f.Confidence == High {
		t.Errorf("without a limit: %s", f.Confidence)
	}
}

// A burst is of concurrent work, of one call, or of memory alone, and the fix is for that: one call cannot be limited.
func TestABurstIsOfAsManyCallsAsWereSeen(t *testing.T) {
	for _, k := range []struct {
		calls, running int
		gone           bool
		detail, fix    string
	}{
		{41, 0, false, manyDetail, "limit how many"},
		{1, 3, false, manyDetail, "limit how many"},
		{1, 0, false, callDetail, "let this call use less"},
		{0, 0, true, peakDetail, "use less memory at once"},
		{0, 0, false, manyDetail, "limit how many"},
	} {
		c := newCase(scenes["burst in the first rise"]().Evidence)
		c.inFlight.calls, c.inFlight.running = k.calls, k.running
		if k.gone {
			c.curve.points = append(c.curve.points, point{at: 31, live: c.curve.min})
		}
		if f := burstFound(c); f.Detail != k.detail || !strings.HasPrefix(lessInFlight(&f), k.fix) {
			t.Errorf("%+v: %s %s", k, f.Detail, lessInFlight(&f))
		}
	}
}

// Where nothing came of a peak and no call was seen, a line that has little of it is not accused of it.
func TestAPeakThatDidNoHarmIsOfTheLineThatHasMostOfIt(t *testing.T) {
	for _, k := range []struct {
		part    float64
		pressed bool
		calls   int
		little  bool
	}{
		{0.2, false, 0, true},
		{0.6, false, 0, false},
		{0.2, false, 3, false},
		{0.2, true, 0, false},
	} {
		c := newCase(scenes["burst in the first rise"]().Evidence)
		c.pressed, c.inFlight.calls, c.inFlight.held, c.site.Since = k.pressed, k.calls, 0, 0
		c.site.Bytes = sample.Bytes(k.part * c.aboveFloor())
		if got := c.ofLittle(); got != k.little {
			t.Errorf("%+v: little of it %v", k, got)
		}
	}
}

// What has a goroutine at each of two places piles up at both: no single one has half of them.
func TestGoroutinesOfOneThingAtSeveralPlacesPileUpTogether(t *testing.T) {
	for there, want := range map[int]Stance{4200: Speaks, 900: Silent} {
		s := workScenes["thousands of goroutines that never end"]()
		s.goroutines(12, 2500, 5000, 7500, 10000)
		s.p.Go.Goroutines = 10000
		s.p.Goroutines = nil
		s.waiting("example.org/shop/gate.pass", "/build/shop/gate/gate.go", 145, 4300, "select", 35)
		s.waiting("example.net/ssh.Discard", "/mod/ssh/ssh.go", 20, there, "chan receive", 35)
		for i := range (5700 - there) / 300 {
			s.waiting("example.org/shop/other.run"+string(rune('A'+i)), "/build/shop/other/other.go", 10+i, 300, "chan receive", 1)
		}
		if f := judgeGoroutines(newCase(s.Evidence)); f.Stance != want {
			t.Errorf("%d beside 4,300: %s, %s%s", there, f.Stance, f.Reason, f.Sentence)
		}
	}
}

// A few megabytes that rose for seconds without any limit near may be a cache that fills, and what a program kept that
// ended by itself within a minute may be its result.
func TestARiseOfSecondsIsNotSurelyALeak(t *testing.T) {
	for _, k := range []struct {
		grown, seconds float64
		byItself       bool
		want           Confidence
	}{{20, 25, false, Medium}, {200, 25, false, High}, {200, 25, true, Medium}, {200, 90, true, High}} {
		w := weighed{score: speakScore.v() + highMargin.v() + 1}
		s := newScene()
		if !k.byItself {
			s.stopped()
		}
		s.site("main.keep", "/build/shop/main.go", 9, 200, 0)
		c := newCase(s.Evidence)
		c.rise = rise{n: 20, grown: k.grown * float64(mib), first: float64(mib), last: (k.grown + 1) * float64(mib), from: 5, to: 5 + k.seconds, low: 1}
		f := leakFound(c, w, nil)
		if f.Confidence != k.want || slices.Contains(f.Because, doubtEnded) != (k.byItself && k.want == Medium) {
			t.Errorf("%v MiB in %v s: %s, want %s: %q", k.grown, k.seconds, f.Confidence, k.want, f.Because)
		}
	}
}

// What watches a program takes memory beside it, and is no company that needs the limit with it.
func TestTheWatcherIsNoCompany(t *testing.T) {
	for why, want := range map[string]sample.Bytes{sample.WhyWatcher: 0, "": 90 * mib} {
		s := newScene()
		key := sample.ProcessKey{PID: 1, Start: 1}
		s.Programs = append(s.Programs, sample.Program{Key: key, Name: "highwater", WhyNot: why})
		s.Moment.Processes = append(s.Moment.Processes, sample.ProcessMoment{Key: key, Resident: &sample.Resident{Total: 90 * mib}})
		if got := newCase(s.Evidence).companions(); got != want {
			t.Errorf("%q: %s, want %s", why, size(got), size(want))
		}
	}
}

// Goroutines that are told to end when the program ends by itself piled up until then; where their number fell earlier, they do end.
func TestGoroutinesThatEndOnlyWithTheProgramPileUp(t *testing.T) {
	for k := range 3 {
		at, want := []int{97, 80, 97}[k], []Stance{Speaks, Silent, Speaks}[k]
		s := workScenes["thousands of goroutines that never end"]()
		s.At, s.Moment.Kind, s.p.Signal = "peak", sample.MomentMax, 0
		s.Events = []sample.Event{s.Events[0], s.Events[len(s.Events)-1]}
		s.ended(0)
		n := len(s.Ticks.Goroutines)
		s.goroutines(12, 2500, 5000, 7500, 10000)
		if k == 2 {
			s.goroutines(12, 2000, 4000, 6000, 8000, 10000, 9990) // they were all there for a sixth of the run
		}
		for i := n * at / 100; i < n; i++ {
			s.Ticks.Goroutines[i] = 20
		}
		s.p.Go.Goroutines = 20
		f := judgeGoroutines(newCase(s.Evidence))
		if f.Stance != want || want == Speaks && !strings.Contains(f.Sentence, "fell only when the program ended") {
			t.Errorf("they fell after %d%% of the run: %s, %s%s", at, f.Stance, f.Reason, f.Sentence)
		}
	}
}

// Goroutines that only the end of a program begins are no rise: their number had come to rest before.
func TestGoroutinesThatTheEndBeganAreNoPile(t *testing.T) {
	for name, c := range map[string]struct {
		n    []float64
		want Stance
	}{
		"at rest until the end": {[]float64{12, 5000, 7500, 7500, 7500, 7500}, Silent},
		"more until the end":    {[]float64{12, 2000, 4000, 6000, 7700, 9400}, Speaks},
	} {
		s := workScenes["thousands of goroutines that never end"]()
		s.At, s.Moment.Kind, s.p.Signal = "peak", sample.MomentMax, 0
		s.Events = []sample.Event{s.Events[0], s.Events[len(s.Events)-1]}
		s.ended(0)
		s.goroutines(c.n...)
		s.p.Go.Goroutines = 9700
		s.Ticks.Goroutines[len(s.Ticks.Goroutines)-1] = 9700
		s.p.Residency.GoStacks /= 10 // which do not fill the memory by themselves
		if f := judgeGoroutines(newCase(s.Evidence)); f.Stance != c.want {
			t.Errorf("%s: %s, %s%s", name, f.Stance, f.Reason, f.Sentence)
		}
	}
}
