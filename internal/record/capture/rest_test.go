package capture

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

func TestAProgramAtRestIsSeenOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(constant(50*sample.MiB)), &counter{}
		if err := watch(t, f, c, time.Minute); err != nil {
			t.Fatal(err)
		}
		if f.full < 29 || f.full > 40 || f.resting < 50 || f.resting > 60 || f.dense != 0 {
			t.Errorf("%d full, %d resting and %d dense points in a minute, want 30, 57 and 0", f.full, f.resting, f.dense)
		}
		if c.points != f.full+f.resting || c.flushes > 8 {
			t.Errorf("%d points and %d flushes kept, want all, and one flush in half a minute of rest", c.points, c.flushes)
		}
	})
}

// Growth that the kernel tells of is looked at when it begins, not a second later.
func TestARestEndsWhenTheSourceStirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wakes = 20*time.Second + 350*time.Millisecond
		f, c := newFake(func(d time.Duration) sample.Bytes {
			return 50*sample.MiB + max(0, min(sample.Bytes(max(0, d-wakes).Seconds()*600e6), 200*sample.MiB))
		}), &counter{}
		f.limit = sample.Some(256 * sample.MiB)
		ctx, cancel := context.WithTimeout(t.Context(), wakes+300*time.Millisecond)
		defer cancel()
		time.AfterFunc(wakes+10*time.Millisecond, func() { f.stirred <- struct{}{} })
		l := &Loop{Source: f, Sink: c, newAlarm: goAlarm, processor: func() time.Duration { return f.busy }}
		if err := l.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if f.resting < 15 || f.dense < 50 || f.count(sample.MomentMax) == 0 {
			t.Errorf("%d resting, %d dense points, %d moments at maxima: the climb was not followed", f.resting, f.dense, f.count(sample.MomentMax))
		}
	})
}

// Where no kernel tells, the charge is read four times a second while a limit is there.
func TestASourceThatCannotHearLooksAtTheCharge(t *testing.T) {
	for _, limited := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f, c := newFake(constant(50*sample.MiB)), &counter{}
			f.deaf = true
			if limited {
				f.limit = sample.Some(256 * sample.MiB)
			}
			if err := watch(t, f, c, 33*time.Second); err != nil {
				t.Fatal(err)
			}
			if limited != (f.dense > 80) || !limited && f.dense != 0 || f.resting < 25 {
				t.Errorf("limited %v: %d dense and %d resting points in 30 s of rest", limited, f.dense, f.resting)
			}
		})
	}
}

// Moments of what rests come ever more seldom, and each minute again while something moves.
func TestMomentsOfARestAreFewAndOfALifeAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, usage := range map[string]func(time.Duration) sample.Bytes{"at rest": constant(50 * sample.MiB), "moving": swaying} {
			f, c := newFake(usage), &counter{}
			if err := watch(t, f, c, time.Hour); err != nil {
				t.Fatal(err)
			}
			n := f.count(sample.MomentCalm)
			if name == "at rest" && (n < 8 || n > 20) || name == "moving" && n < 55 {
				t.Errorf("%s: %d calm moments in an hour", name, n)
			}
		}
	})
}

// What creeps up at rest has a maximum a minute, and as many as ever where it grows faster or
// little is left below its limit.
func TestMaximaOfWhatCreepsAreAMinuteApart(t *testing.T) {
	for _, c := range []struct {
		name            string
		perSecond       sample.Bytes
		limit           sample.Opt[sample.Bytes]
		atLeast, atMost int
	}{
		{"creeping", 15 * sample.KiB, sample.Opt[sample.Bytes]{}, 8, 12},
		{"creeping, with much room", 15 * sample.KiB, sample.Some(256 * sample.MiB), 8, 12},
		{"creeping, with little", 15 * sample.KiB, sample.Some(22 * sample.MiB), 18, 200},
		{"growing", 64 * sample.KiB, sample.Opt[sample.Bytes]{}, 60, 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(func(d time.Duration) sample.Bytes {
				return 12*sample.MiB + sample.Bytes(int(d.Seconds())/8*8)*c.perSecond // in steps, as pages come
			})
			f.limit = c.limit
			if err := watch(t, f, &counter{}, 10*time.Minute); err != nil {
				t.Fatal(err)
			}
			if n := f.count(sample.MomentMax); n < c.atLeast || n > c.atMost {
				t.Errorf("%s: %d moments at maxima in ten minutes, want %d to %d", c.name, n, c.atLeast, c.atMost)
			}
		})
	}
}

// Others that wait at limits of their own do not keep a program from being at rest; a machine
// that is short of memory does.
func TestPressureOfOthersEndsNoRest(t *testing.T) {
	pressure := &sample.Pressure{Some10: 8}
	for _, c := range []struct {
		host *sample.Host
		want bool
	}{
		{&sample.Host{Total: 24 * sample.GiB, Available: 20 * sample.GiB}, false},
		{&sample.Host{Total: 24 * sample.GiB, Available: 2 * sample.GiB}, true},
		{nil, true},
	} {
		if got := isPressed(&sample.Point{Pressure: pressure, Host: c.host}); got != c.want {
			t.Errorf("%+v: pressed %v", c.host, got)
		}
	}
	if isPressed(&sample.Point{Pressure: &sample.Pressure{Some10: 1}}) {
		t.Error("a hundredth of the time is no pressure")
	}
}
