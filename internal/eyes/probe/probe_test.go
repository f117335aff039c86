package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// server is one whose answers take as long as it says.
type server struct {
	takes func(sent time.Time) time.Duration
	mu    sync.Mutex
	busy  int
	most  int
}

func (s *server) ask(ctx context.Context) (int, error) {
	s.mu.Lock()
	s.busy++
	s.most = max(s.most, s.busy)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.busy--
		s.mu.Unlock()
	}()
	if !sleep(ctx, s.takes(time.Now())) {
		return 0, ctx.Err()
	}
	return 200, nil
}

func (s *server) close() {}

// probed is what a Prober kept of a server in so many seconds of the bubble's
// clock, by when it was due; start is its first.
func probed(t *testing.T, s *server, rate float64, lasts time.Duration) (kept []sample.Request, start time.Time, rates []float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), lasts)
		defer cancel()
		var mu sync.Mutex
		p := Prober{Rate: rate, newAsker: func() asker { return s },
			Keep:   func(r sample.Request) { mu.Lock(); kept = append(kept, r); mu.Unlock() },
			Slower: func(rate float64, _ time.Duration) { rates = append(rates, rate) }}
		p.Run(ctx)
	})
	if s.most > connections {
		t.Errorf("%d requests were on their way at once", s.most)
	}
	return kept, start, rates
}

func TestEveryRequestOfAStallHasItAgainstIt(t *testing.T) {
	from, to := time.Time{}, time.Time{}
	s := &server{takes: func(sent time.Time) time.Duration {
		if from.IsZero() {
			from, to = sent.Add(2*time.Second), sent.Add(3*time.Second)
		}
		if sent.Before(from) || sent.After(to) {
			return time.Millisecond
		}
		return to.Sub(sent)
	}}
	kept, start, _ := probed(t, s, 20, 5*time.Second)
	if n := len(kept); n < 98 || n > 101 {
		t.Errorf("%d requests in 5 s", n)
	}
	slow := 0
	for _, r := range kept {
		due := r.Due.Sub(start)
		switch l := r.Latency(); {
		case r.Failure != "":
			t.Errorf("due after %s: %s", due, r.Failure)
		case due >= 2*time.Second && due < 3*time.Second:
			slow++
			// It ended when the server went on, or soon after: 20 waited for two connections.
			if end := due + l; end < 3*time.Second || end > 3*time.Second+20*time.Millisecond {
				t.Errorf("due after %s, answered after %s", due, end)
			}
		case l > 15*time.Millisecond:
			t.Errorf("due after %s, took %s", due, l)
		}
	}
	if slow != 20 {
		t.Errorf("%d requests were due while it stood still, want 20", slow)
	}
}

func TestASlowServerIsAskedLessOften(t *testing.T) {
	s := &server{takes: func(time.Time) time.Duration { return 300 * time.Millisecond }}
	kept, _, rates := probed(t, s, 20, time.Minute)
	if len(rates) == 0 || rates[len(rates)-1] != 2.5 {
		t.Errorf("rates %v, want 2.5 at last", rates)
	}
	for _, r := range kept[len(kept)/2:] {
		if r.Waited > 0 {
			t.Errorf("a request waited %s for a connection", r.Waited)
		}
	}
}

func TestAServerThatNeverAnswersIsNotWaitedForWithoutEnd(t *testing.T) {
	s := &server{takes: func(time.Time) time.Duration { return time.Hour }}
	kept, start, _ := probed(t, s, 20, time.Minute)
	sent := 0
	for _, r := range kept {
		if r.Failure != sample.NoAnswer || r.Latency() < tooLate || r.Latency() > patience || !r.Timed() {
			t.Errorf("due after %s: %+v", r.Due.Sub(start), r)
		}
		if r.Took > 0 {
			sent++
		}
	}
	if n := len(kept); n < 49*20 || n > 55*20 || sent > 2*10 {
		t.Errorf("%d requests, of which %d were sent", n, sent)
	}
}

func TestAFailureIsNoLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var kept []sample.Request
		p := Prober{Rate: 1, newAsker: func() asker { return failing{} }, Keep: func(r sample.Request) { kept = append(kept, r) }}
		p.Run(ctx)
		if len(kept) == 0 || kept[0].Timed() || kept[0].Failure != "the disk is full" {
			t.Errorf("kept %+v", kept)
		}
		if _, err := p.Await(ctx); err == nil {
			t.Error("it answered")
		}
	})
}

type failing struct{}

func (failing) ask(context.Context) (int, error) { return 0, errors.New("the disk is full") }
func (failing) close()                           {}

func TestAServerIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		n := 0
		p := Prober{newAsker: func() asker {
			return once(func() error {
				if n++; n < 5 {
					return errors.New("loading")
				}
				return nil
			})
		}}
		a, err := p.Await(t.Context())
		if err != nil || a.Before != 4 || a.At.Sub(start) != 4*knockEvery {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// A program that ended listens no more; what it said before tells why nobody answered.
func TestWhatAServerSaidIsNotForgottenWhenItGoes(t *testing.T) {
	said := errors.New("the answer is not RESP")
	gone := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for name, c := range map[string]struct {
		attempts []error
		want     string
	}{
		"it went":     {[]error{gone, said, gone, io.EOF, gone}, said.Error()},
		"never there": {[]error{gone, gone}, "nobody listens there"},
		"it closes":   {[]error{gone, io.EOF}, "the connection was closed"},
		"the last":    {[]error{said, errors.New("loading")}, "loading"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p := Prober{newAsker: func() asker {
				return once(func() error {
					err := c.attempts[0]
					if c.attempts = c.attempts[1:]; len(c.attempts) == 0 {
						time.AfterFunc(time.Nanosecond, cancel) // after the attempt, before the next
					}
					return err
				})
			}}
			if _, err := p.Await(ctx); err == nil || err.Error() != c.want {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		})
	}
}

type once func() error

func (f once) ask(context.Context) (int, error) { return 0, f() }
func (f once) close()                           {}

// After a pause of our own nothing is made up for.
func TestWhatWasDueWhileWeStoodStillIsForgotten(t *testing.T) {
	start := time.Unix(0, 0)
	s := newSchedule(start, 10, nil)
	s.next(start)
	if due := s.next(start.Add(time.Hour)); due != start.Add(time.Hour) {
		t.Errorf("due %s", due)
	}
	if due := s.next(start.Add(time.Hour + time.Second)); due != start.Add(time.Hour+100*time.Millisecond) {
		t.Errorf("then due %s", due)
	}
}
