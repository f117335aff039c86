// Package probe asks a server for something small, again and again, and says how
// long each answer took: GET of an HTTP address, PING or SET of a server that
// speaks RESP, as Redis does. It says what it saw and judges nothing.
//
// Requests are due at fixed times, whatever became of those before them, and a
// latency counts from when its request was due. A server that stands still for a
// second therefore has all the requests of that second against it, and not only
// the one that happened to be under way (an "open loop"; the other way is known as
// coordinated omission). At most two requests are on their way at once: those that
// are due meanwhile are sent as soon as one has its answer, late, and their wait
// is part of their latency. Where answers take so long in general that two
// connections could not keep up, the pace is halved.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	// connections is how many requests are on their way at most.
	connections = 2
	// patience is how long after it was due an answer is waited for. A request that
	// could not be sent within tooLate is not sent: its user has gone, and a server
	// that stands still is not to find a pile of connections when it goes on.
	patience = 10 * time.Second
	tooLate  = patience / 2
	// knockEvery is how often is tried whether the server answers yet, knockFor how
	// long one try may take.
	knockEvery = 100 * time.Millisecond
	knockFor   = 2 * time.Second
)

// asker sends one request and waits for its answer.
type asker interface {
	// ask returns the answer's status, 0 where the protocol has none, or why there
	// was none. It ends when ctx does.
	ask(ctx context.Context) (status int, err error)
	close()
}

// Prober asks one target.
type Prober struct {
	Target *Target
	// Rate is requests a second to begin with.
	Rate float64
	// Keep gets each request once it has ended; it is called by several goroutines.
	Keep func(sample.Request)
	// Slower, if set, is told of a new rate, and of what answers took at the old one.
	Slower func(rate float64, median time.Duration)

	newAsker func() asker // nil: the target's
}

// Answered is what is known of a server that has answered once.
type Answered struct {
	At     time.Time
	Status int
	Before int // attempts that failed before
}

// Await tries until the server answers. The error is the last attempt's, or ctx's
// where there was none; what somebody said there is kept over that nobody is there
// any more, as at the program's end.
func (p *Prober) Await(ctx context.Context) (Answered, error) {
	a := p.asker()
	defer a.close()
	last := error(nil)
	for n := 0; ; n++ {
		attempt, cancel := context.WithTimeout(ctx, knockFor)
		status, err := a.ask(attempt)
		cancel()
		switch {
		case err == nil:
			return Answered{At: time.Now(), Status: status, Before: n}, nil
		case last == nil, ctx.Err() == nil && (!nobody(err) || nobody(last)):
			last = err
		}
		if !sleep(ctx, knockEvery) {
			return Answered{Before: n + 1}, plain(last)
		}
	}
}

// Run asks until ctx ends. A request that is on its way then is forgotten.
func (p *Prober) Run(ctx context.Context) {
	s := newSchedule(time.Now(), p.Rate, p.Slower)
	var both sync.WaitGroup
	defer both.Wait()
	for range connections {
		both.Go(func() {
			a := p.asker()
			defer a.close()
			for p.one(ctx, a, s) {
			}
		})
	}
}

// one waits until the next request is due, sends it and keeps what came of it;
// false: ctx has ended.
func (p *Prober) one(ctx context.Context, a asker, s *schedule) bool {
	r := sample.Request{Due: s.next(time.Now())}
	if early := time.Until(r.Due); early > 0 {
		if !sleep(ctx, early) {
			return false
		}
		r.Due = time.Now() // a connection was free: that we woke late is not the server's
	}
	r.Waited = time.Since(r.Due)
	if r.Waited >= tooLate {
		r.Failure = sample.NoAnswer
		p.Keep(r)
		return true
	}
	sent := time.Now()
	waiting, cancel := context.WithTimeout(ctx, patience-r.Waited)
	status, err := a.ask(waiting)
	cancel()
	r.Took, r.Status = time.Since(sent), status
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		r.Failure = plain(err).Error()
	}
	p.Keep(r)
	if r.Failure == "" {
		s.answered(r.Took)
	}
	return true
}

func (p *Prober) asker() asker {
	if p.newAsker != nil {
		return p.newAsker()
	}
	return p.Target.asker()
}

// sleep waits; false: ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// nobody tells an error that says nothing of who is there.
func nobody(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || cut(err)
}

func cut(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// plain is an error in short words, without addresses that differ from request to
// request.
func plain(err error) error {
	var timeout net.Error
	var address *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errors.New(sample.NoAnswer)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("nobody listens there")
	case cut(err):
		return errors.New("the connection was closed")
	case errors.As(err, &address):
		err = address.Err
	}
	if text := err.Error(); len(text) > mostWords {
		//lint:ignore ST1005 the dots say that a server's own words are cut
		return fmt.Errorf("%s...", text[:mostWords])
	}
	return err
}

// mostWords bounds what is kept of a server's own words.
const mostWords = 120
