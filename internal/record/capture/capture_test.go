package capture

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// fake is a program whose charge is a function of the time since its start.
type fake struct {
	start  time.Time
	usage  func(time.Duration) sample.Bytes
	cache  sample.Bytes
	limit  sample.Opt[sample.Bytes]
	cost   time.Duration // of a moment, of a processor's time
	waits  time.Duration // for a processor, at each moment
	busy   time.Duration // processor time taken
	done   chan struct{}
	wake   chan struct{}
	cgroup sample.Cgroup
	stat   sample.CgroupStat

	full, dense, resting, dozed int

	deaf     bool
	stirred  chan struct{}
	captured []sample.MomentKind
	at       []time.Duration
	profiles int
}

func newFake(usage func(time.Duration) sample.Bytes) *fake {
	return &fake{start: time.Now(), usage: usage, done: make(chan struct{}), wake: make(chan struct{}, 1), stirred: make(chan struct{}, 1)}
}

func (f *fake) Tick(p *sample.Point, d Depth) error {
	f.cgroup = sample.Cgroup{Usage: f.usage(time.Since(f.start)), Limit: f.limit}
	if d != Dense {
		if d == Full {
			f.full++
		} else {
			f.resting++
		}
		f.stat = sample.CgroupStat{Anon: f.cgroup.Usage.Sub(f.cache), PageCache: f.cache}
		f.cgroup.Stat = &f.stat
	} else {
		f.dense++
	}
	p.Cgroup = &f.cgroup
	return nil
}

func (f *fake) Capture(kind sample.MomentKind) {
	f.captured = append(f.captured, kind)
	f.at = append(f.at, time.Since(f.start))
	f.busy += f.cost
	time.Sleep(f.cost + f.waits) // the bubble's clock: what a moment takes
}
func (f *fake) Profile()              { f.profiles++ }
func (f *fake) Collect(Sink) error    { return nil }
func (f *fake) Wake() <-chan struct{} { return f.wake }
func (f *fake) Done() <-chan struct{} { return f.done }
func (f *fake) Doze() bool {
	f.dozed++
	return !f.deaf
}
func (f *fake) Stirred() <-chan struct{} { return f.stirred }
func (f *fake) count(k sample.MomentKind) (n int) {
	for _, c := range f.captured {
		if c == k {
			n++
		}
	}
	return n
}

// counter is a sink that fails from its limit on.
type counter struct {
	Sink
	points, flushes, failAfter int
	last                       sample.Bytes
}

var errFull = errors.New("no space left on device")

func (c *counter) Point(p *sample.Point) error {
	if c.failAfter > 0 && c.points >= c.failAfter {
		return errFull
	}
	c.points++
	c.last = p.Cgroup.Usage
	return nil
}
func (c *counter) Flush() error { c.flushes++; return nil }

// watch runs a loop over the fake for d of the bubble's time.
func watch(t *testing.T, f *fake, c *counter, d time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return (&Loop{Source: f, Sink: c, newAlarm: goAlarm, processor: func() time.Duration { return f.busy }}).Run(ctx)
}

func constant(b sample.Bytes) func(time.Duration) sample.Bytes {
	return func(time.Duration) sample.Bytes { return b }
}

// swaying is a charge that moves by two MiB each second.
func swaying(d time.Duration) sample.Bytes {
	return 200*sample.MiB + 2*sample.MiB*sample.Bytes(int(d/time.Second)%2)
}

func TestAProgramThatMovesIsSeenTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(swaying), &counter{}
		if err := watch(t, f, c, 10*time.Second); err != nil {
			t.Fatal(err)
		}
		if f.full < 95 || f.full > 105 || f.dense != 0 {
			t.Errorf("%d full and %d dense points in 10 s, want about 100 and 0", f.full, f.dense)
		}
		if c.points != f.full || c.flushes < 9 {
			t.Errorf("%d points and %d flushes kept, want all and one a second", c.points, c.flushes)
		}
		if n := f.profiles + f.count(sample.MomentCalm); n < 4 {
			t.Errorf("%d heap profiles in 10 s, those of moments included", n)
		}
	})
}

func TestAClimbToTheLimitIsSeenDensely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		climb := func(d time.Duration) sample.Bytes { return min(256*sample.MiB, sample.Bytes(d.Seconds()*100e6)) }
		f, c := newFake(climb), &counter{}
		f.limit = sample.Some(256 * sample.MiB)
		if err := watch(t, f, c, 2700*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if f.dense < 500 {
			t.Errorf("%d dense points on the way to the limit, want hundreds", f.dense)
		}
		if f.count(sample.MomentMax) < 5 {
			t.Errorf("%d moments at new maxima, want several", f.count(sample.MomentMax))
		}
	})
}

func TestPageCacheAtTheLimitIsCalm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(constant(256*sample.MiB)), &counter{}
		f.limit, f.cache = sample.Some(256*sample.MiB), 250*sample.MiB
		if err := watch(t, f, c, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		if f.dense != 0 {
			t.Errorf("%d dense points although nothing grows", f.dense)
		}
	})
}

func TestTheTopOfAClimbIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top := 103 * sample.MiB
		f, c := newFake(func(d time.Duration) sample.Bytes {
			switch {
			case d < 3*time.Second:
				return 60 * sample.MiB
			case d < 8*time.Second:
				return top
			}
			return 61 * sample.MiB
		}), &counter{}
		if err := watch(t, f, c, 20*time.Second); err != nil {
			t.Fatal(err)
		}
		for i, k := range f.captured {
			if k == sample.MomentMax && f.at[i] >= 3*time.Second && f.at[i] < 8*time.Second {
				return
			}
		}
		t.Errorf("no moment was kept while the charge stood at its top: %v at %v", f.captured, f.at)
	})
}

func TestMomentsTakeABoundedShareOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saw := func(d time.Duration) sample.Bytes { return 16*sample.MiB + sample.Bytes(d.Seconds()*50e6) }
		f, c := newFake(saw), &counter{}
		f.cost = 200 * time.Millisecond
		if err := watch(t, f, c, time.Minute); err != nil {
			t.Fatal(err)
		}
		spent := time.Duration(len(f.captured)) * f.cost
		if allowed := momentBurst + time.Duration(momentShare*float64(time.Minute)) + 2*f.cost; spent > allowed {
			t.Errorf("moments took %v of a minute, more than %v", spent, allowed)
		}
		if len(f.captured) < 3 {
			t.Errorf("only %d moments", len(f.captured))
		}
	})
}

// A busy machine lets a moment wait for a second: the top of a climb is kept all the
// same, and moments take no more of the time than a fifth.
func TestAMachineTooBusyForUsDoesNotHideThePeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(func(d time.Duration) sample.Bytes {
			switch {
			case d < 20*time.Second:
				return 60*sample.MiB + sample.Bytes(d.Seconds()*float64(20*sample.MiB))
			case d < 30*time.Second:
				return 700 * sample.MiB
			}
			return 100 * sample.MiB
		}), &counter{}
		f.cost, f.waits = 40*time.Millisecond, 960*time.Millisecond
		if err := watch(t, f, c, time.Minute); err != nil {
			t.Fatal(err)
		}
		atTop := 0
		for _, at := range f.at {
			if at >= 20*time.Second && at < 30*time.Second {
				atTop++
			}
		}
		if took := time.Duration(len(f.captured)) * time.Second; atTop == 0 || took > 15*time.Second {
			t.Errorf("%d moments at the top, %d in all: %v at %v", atTop, len(f.captured), f.captured, f.at)
		}
	})
}

func TestAFullDiskEndsTheRecordingNotTheWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(swaying), &counter{failAfter: 10}
		told := 0
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := (&Loop{Source: f, Sink: c, newAlarm: goAlarm, OnSinkError: func(error) { told++ }}).Run(ctx)
		if !errors.Is(err, errFull) {
			t.Errorf("Run = %v, want the sink's error", err)
		}
		if told != 1 || c.points != 10 || f.full < 45 {
			t.Errorf("told %d times, %d points kept, %d seen: want once, 10, all of 5 s", told, c.points, f.full)
		}
	})
}

func TestAMomentThatIsAskedForIsKeptAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(constant(100*sample.MiB)), &counter{}
		asked := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- (&Loop{Source: f, Sink: c, MomentRequests: asked, newAlarm: goAlarm, processor: func() time.Duration { return f.busy }}).Run(ctx)
		}()
		time.Sleep(250 * time.Millisecond) // of the bubble's time: before the first calm moment
		flushes := c.flushes
		asked <- struct{}{}
		synctest.Wait()
		if f.count(sample.MomentAsked) != 1 || f.at[len(f.at)-1] != 250*time.Millisecond {
			t.Errorf("asked for once, after 250ms: %v at %v", f.captured, f.at)
		}
		if c.flushes != flushes+1 {
			t.Errorf("who asked cannot read it yet: %d flushes after %d", c.flushes, flushes)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestTheEndIsSeenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(constant(50*sample.MiB)), &counter{}
		time.AfterFunc(1234*time.Millisecond, func() { close(f.done) })
		if err := watch(t, f, c, time.Hour); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(f.start); d > 1300*time.Millisecond {
			t.Errorf("the loop ended after %v, the program after 1.234 s", d)
		}
		if f.count(sample.MomentEnd) != 0 {
			t.Error("a moment was taken of a program that is gone")
		}
	})
}
