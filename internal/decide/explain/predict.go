package explain

import (
	"errors"
	"fmt"

	"github.com/highwater-go/highwater/internal/measure/pacer"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// history begins to read what predictions are made from, and gives what waits for it: of a finished recording it is read
// while the rest is, as it takes as long. A program whose collector was not seen has none.
func (l *loader) history() func() error {
	if !l.e.isGo(l.e.Subject) {
		return func() error { return nil }
	}
	r, err := l.Again()
	if err != nil { // then it is read after the rest
		return func() (err error) {
			l.e.History, err = historyOf(l.Reader, l.e.Subject)
			return err
		}
	}
	subject := l.e.Subject
	var h *pacer.History
	done := make(chan error, 1)
	go func() {
		defer func() { _ = r.Close() }() // of a reader
		var err error
		h, err = historyOf(r, subject)
		done <- err
	}()
	return func() error {
		err := <-done
		l.e.History = h
		return err
	}
}

func historyOf(r *recording.Reader, subject sample.ProcessKey) (*pacer.History, error) {
	h, err := pacer.LoadOf(r, subject)
	if errors.Is(err, pacer.ErrNoHistory) {
		return h, nil
	}
	return h, err
}

// predictor answers for the run, nil where the collector was not seen. Without samples
// it knows the collections and the moment.
func (c *Case) predictor() *pacer.Predictor {
	if c.g == nil {
		return nil
	}
	h := c.History
	if h == nil {
		h = c.sketch().History()
	}
	return pacer.NewPredictor(h, c.limit)
}

func (c *Case) sketch() pacer.Sketch {
	s := pacer.Sketch{Cycles: c.Cycles, Start: c.Start, At: c.Moment.At, Runtime: c.g, Live: c.proc.Live, Anon: anonOf(*c.proc), Fixed: c.goFixed(),
		Idle:  c.own.Row(sample.RowIdle),
		Limit: c.limit, Killed: c.outcome.Kernel, Ended: c.outcome.State == Exited}
	s.Rest = c.ledger.Total.Sub(c.ledger.Row(sample.RowPageCache) + s.Anon)
	if p := c.program(c.Subject); p != nil {
		s.Program = *p
	}
	return s
}

// boundedBy is the command that shows what a GOMEMLIMIT would do, "" where what is live
// does not leave it room. Without a limit it is one of half of what the program used. It is an experiment; nothing is
// predicted of it.
func (c *Case) boundedBy() string {
	within := c.limit
	if within == 0 {
		within = sample.Bytes(c.hardPeak() / 2)
	}
	want := pacer.MemoryLimitFor(within, c.outside())
	if c.g == nil || c.live.bytes+c.goFixed() > want {
		return ""
	}
	if have, ok := c.memoryLimit(); ok && have <= want {
		return ""
	}
	return c.again(c.limit, "GOMEMLIMIT="+units.Env(want))
}

// memoryLimit proposes the GOMEMLIMIT for the limit, or says what it would not do.
func (p *proposals) memoryLimit(class Class) {
	if p.predictor == nil || p.limit == 0 {
		return
	}
	o := p.predictor.MemoryLimit()
	if have, ok := p.Case.memoryLimit(); ok && have <= o.GOMEMLIMIT {
		return // it is in force
	}
	f := Fix{Text: "GOMEMLIMIT=" + units.Env(o.GOMEMLIMIT), Kind: "config", Limit: p.limit}
	f.Setting, f.Command = f.Text, p.again(p.limit, f.Text)
	switch {
	case o.Chance == pacer.Fits:
		p.fittingLimit(class, f, o)
	case class == Burst && o.Chance == pacer.Later:
		p.vain(f.Text, "the live memory itself was still growing") // not along a line through the time before
	case o.Chance == pacer.Vain, o.Chance == pacer.Later:
		p.vain(f.Text, o.Why)
	case o.Chance == pacer.Unknown:
		p.notPredicted(o.Why)
	}
}

// fittingLimit proposes a GOMEMLIMIT that the model fits, unless the class says that it cannot help.
func (p *proposals) fittingLimit(class Class, f Fix, o pacer.Outlook) {
	switch {
	case class == Leak || class == Goroutines:
		p.vain(f.Text, "GOMEMLIMIT does not stop a leak, it only delays the kill")
	case class == Backlog:
		p.vain(f.Text, "GOMEMLIMIT does not empty the queue, it only delays the kill")
	case 2*p.largestValue()+p.nonHeap() > p.limit:
		p.notPredicted(fmt.Sprintf("one value takes %s, and GC runs only after it was allocated", size(p.largestValue())))
	case class == IdleHeap && p.othersGrew():
		p.notPredicted("the other processes were still growing")
	case class == Burst && p.burstUnknown(o) != "":
		p.notPredicted(p.burstUnknown(o))
	default:
		p.predicted(f, o)
	}
}

// burstUnknown is why it is not known what a burst that was killed would have needed, "" where it is: what was in flight then had not
// come to its end, and one more call may come.
func (c *Case) burstUnknown(o pacer.Outlook) string {
	if !c.outcome.Kernel {
		return ""
	}
	if c.wholeValues() > 0 && !c.madeAgain() {
		return "values were still being built at the kill, and how large they become is not known"
	}
	if n := c.inFlight.calls; n > 0 && o.Need.P95+c.inFlight.held/sample.Bytes(n) > c.limit {
		return fmt.Sprintf("the limit leaves no room for one more call of %s, which uses %s", ShortFunc(c.inFlight.name), size(c.inFlight.held/sample.Bytes(n)))
	}
	return ""
}

// asItIs proposes a limit that holds the program as it was run, above the one in force
// and above least.
func (p *proposals) asItIs(least sample.Bytes) {
	if p.predictor == nil || p.limit == 0 {
		return
	}
	o := p.predictor.AsItIs()
	o.Limit = max(o.Limit, (least+limitGrain-1)/limitGrain*limitGrain)
	if o.Limit <= p.limit || o.Limit >= unlimited {
		return
	}
	f := Fix{Text: "a limit of " + limit(o.Limit), Kind: "limit", Limit: o.Limit, Command: p.again(o.Limit)}
	if o.Chance == pacer.Fits {
		p.predicted(f, o)
		return
	}
	f.Text, f.State = "a limit of at least "+limit(o.Limit), "untested"
	p.add(f)
	p.notPredicted(o.Why)
}

// limitGrain is what limits are rounded up to.
const limitGrain = 16 * sample.MiB

// room proposes a GOMEMLIMIT under which the collector has room to work, with a limit
// that holds it where the one in force does not.
func (p *proposals) room() {
	if p.predictor == nil {
		return
	}
	o := p.predictor.Room()
	if o.Chance != pacer.Fits {
		p.notPredicted(o.Why)
		return
	}
	f := Fix{Text: "GOMEMLIMIT=" + units.Env(o.GOMEMLIMIT), Kind: "config", Limit: o.Limit}
	f.Setting, f.Command = f.Text, p.again(o.Limit, f.Text)
	if o.Limit > p.limit {
		f.Kind, f.Text = "limit", f.Text+" and a limit of "+limit(o.Limit)
	}
	p.predicted(f, o)
}

// predicted adds a fix that the model says survives.
func (p *proposals) predicted(f Fix, o pacer.Outlook) {
	f.State, f.Outlook = "predicted", fmt.Sprintf("survives, with %d to %d MiB of %s", o.Need.P5>>20, (o.Need.P95+sample.MiB-1)>>20, limit(o.Limit))
	if o.Hard {
		f.Outlook += ", but GC takes much CPU time"
	}
	p.add(f)
}
