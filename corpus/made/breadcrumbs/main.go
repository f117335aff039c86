// Breadcrumbs is an intake of insurance claims that sends a report when one fails: a hook of
// logrus keeps the entries of each claim, which are what led to the error, until an error is
// logged, and sends them with it. Most claims have no error, and what was kept of them stays.
// Repaired, the end of a claim drops its entries.
package main

import (
	"fmt"
	"io"
	"log"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// trail is a hook that keeps what was logged of a claim.
type trail struct {
	mu      sync.Mutex
	byClaim map[string][]*logrus.Entry
	reports int
}

func (t *trail) Levels() []logrus.Level { return logrus.AllLevels }

func (t *trail) Fire(e *logrus.Entry) error {
	claim, ok := e.Data["claim"].(string)
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byClaim[claim] = append(t.byClaim[claim], e) // truth: keeps
	if e.Level <= logrus.ErrorLevel {
		t.report(t.byClaim[claim])
		delete(t.byClaim, claim)
	}
	return nil
}

// report is what the developers get.
func (t *trail) report(entries []*logrus.Entry) {
	for _, e := range entries {
		fmt.Fprintln(io.Discard, e.Time, e.Message, e.Data["document"])
	}
	t.reports++
}

func (t *trail) end(claim string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byClaim, claim)
}

// document is the scanned form of a claim; a log shows its name.
type document struct {
	name string
	scan []byte
}

func (d *document) String() string { return d.name }

type intake struct {
	log      *logrus.Logger
	trail    *trail
	ends     bool
	policies map[int]*policy // 14 MiB
	size     int
	refused  int
}

type policy struct {
	holder string
	covers [36]int32
	paid   [12]int64
}

func newIntake(size int, ends bool) *intake {
	in := &intake{log: logrus.New(), trail: &trail{byClaim: map[string][]*logrus.Entry{}}, ends: ends, policies: map[int]*policy{}, size: size}
	in.log.SetOutput(io.Discard)
	in.log.AddHook(in.trail)
	for i := range 52_000 {
		p := &policy{holder: fmt.Sprintf("holder of policy %d", i)}
		for n := range p.covers {
			p.covers[n] = int32(i * n % 5000)
		}
		in.policies[i] = p
	}
	return in
}

func (in *intake) receive(i int) *document {
	scan := frame.Touch(make([]byte, in.size)) // truth: allocates
	scan[0] = byte(i)
	return &document{fmt.Sprintf("form-%d.tif", i), scan}
}

func (in *intake) handle(i int) {
	claim := fmt.Sprintf("C-%08d", i)
	if in.ends {
		defer in.trail.end(claim)
	}
	entry := in.log.WithFields(logrus.Fields{"claim": claim, "document": in.receive(i)}) // truth: logs
	entry.Info("received")                                                               // truth: logs
	p := in.policies[i*31%60_000]
	if p == nil {
		in.refused++
		entry.Warn("no such policy") // truth: logs
		return
	}
	if p.covers[i%len(p.covers)] < 0 {
		entry.Error("the policy is damaged")
		return
	}
	p.paid[i%12]++
	entry.Info("decided")
}

func main() {
	f := frame.Parse()
	in := newIntake(f.Unit, f.Repaired)
	f.Each(in.handle)
	f.Stay()
	log.Printf("%d refused, %d reports", in.refused, in.trail.reports)
}
