package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/pull"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// fetchTime bounds one fetch: writing the profile of a program with very many
// allocation sites takes it some seconds.
const fetchTime = 15 * time.Second

// poll fetches profiles from an address until the time is over or Ctrl-C.
func (f ImportFlags) poll(ctx context.Context, s *Streams) error {
	if f.Every <= 0 {
		return Usagef("--every 10s", "--every must be more than 0")
	}
	e, err := pull.NewEndpoint(f.URL, fetchTime)
	if err != nil {
		return Usagef("--url localhost:6060", "--url: %w", err)
	}
	ctx, cancel := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if f.Lasts > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, f.Lasts)
		defer end()
	}
	p := poller{endpoint: e, writer: profileWriter{importer: &importer{ImportFlags: f, s: s}}}
	return p.run(ctx)
}

// poller writes what an address gives, from its first profile on.
type poller struct {
	endpoint *pull.Endpoint
	series   pull.Series
	writer   profileWriter
	fetched  int

	failing string    // why the last fetch failed, "" if it did not
	since   time.Time // of the first failure with that reason
}

func (p *poller) run(ctx context.Context) error {
	i := p.writer.importer
	tick := time.NewTicker(i.Every)
	defer tick.Stop()
	for {
		if err := p.step(ctx); err != nil {
			return i.finish(err)
		}
		select {
		case <-ctx.Done():
			return p.end()
		case <-tick.C:
		}
	}
}

// step fetches once. A fetch that fails is a gap until one succeeds.
func (p *poller) step(ctx context.Context) error {
	profile, err := p.endpoint.Fetch(ctx)
	if ctx.Err() != nil && err != nil {
		return nil // the end came while it was fetched
	}
	if err == nil {
		err = p.take(profile)
	}
	var broken *writeError
	switch {
	case errors.As(err, &broken):
		return broken.err
	case err != nil:
		return p.fail(err.Error())
	}
	return p.fail("")
}

// writeError is an error of the recording, as distinct from one of the endpoint.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }

func (p *poller) take(profile *pull.Profile) error {
	step, err := p.series.Add(profile)
	if err != nil {
		return err
	}
	i := p.writer.importer
	if i.w == nil {
		err = i.create("url", profile.Program.Name(), profile.At)
		if err == nil {
			err = p.writer.notes("")
		}
	}
	if err == nil {
		p.fetched++
		err = p.writer.add(profile, step, "heap profile from "+p.endpoint.Name())
	}
	if err == nil {
		err = i.w.Flush()
	}
	if err != nil {
		return &writeError{err}
	}
	i.sayf("%s: profile %d, %s in use", profile.At.Format(time.TimeOnly), p.fetched, units.Size(profile.InUse))
	return nil
}

// fail notes that fetching works no longer, works again, or fails for another
// reason.
func (p *poller) fail(why string) error {
	if why == p.failing {
		return nil
	}
	err := p.endGap()
	p.failing, p.since = why, time.Now()
	if why != "" {
		p.writer.sayf("highwater: %s: %s", p.endpoint.Name(), why)
	}
	return err
}

// endGap writes the gap that was open until now.
func (p *poller) endGap() error {
	if p.failing == "" || p.writer.w == nil {
		return nil
	}
	return p.writer.gap(sample.ProcessKey{}, p.since, time.Now(), "the heap profile of some time", fmt.Sprintf("%s: %s", p.endpoint.Name(), p.failing))
}

func (p *poller) end() error {
	i := p.writer.importer
	if i.w == nil {
		why := p.failing
		if why == "" {
			why = "the time was over before it answered"
		}
		return &ExitError{Code: ExitFailed, Err: fmt.Errorf("%s gave no heap profile: %s", p.endpoint.Name(), why),
			Hint: "a program offers it by importing net/http/pprof and listening; highwater run needs nothing of it"}
	}
	return i.finish(p.endGap())
}
