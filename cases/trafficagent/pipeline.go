package main

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/trafficagent/ir"
)

// batchSize is how many different traces are collected before they are sent.
const batchSize = 200

// sink takes what the agent has seen.
type sink interface {
	send(*ir.Batch) error
}

// pipeline makes traces of witnesses: it names the formats of texts, hides
// every value behind its hash, drops what lists repeat, and counts what is the
// same. Its memory is used again for each witness, so it takes one at a time.
type pipeline struct {
	formats *formats
	reflect bool
	to      sink
	har     *harFile // gets the witnesses as they were seen; nil: nobody does

	mu     sync.Mutex
	walker walker
	hasher *hasher
	traces map[uint64]*ir.Trace
	totals totals
}

// totals is what the pipeline has done.
type totals struct{ Exchanges, Traces, Batches, Refused int }

func newPipeline(fault *faults.Set, to sink) *pipeline {
	return &pipeline{
		formats: newFormats(fault.Has("regexp")),
		reflect: fault.Has("hashreflect"),
		to:      to,
		walker:  walker{copies: fault.Has("visitor")},
		hasher:  newHasher(),
		traces:  map[uint64]*ir.Trace{},
	}
}

// take takes one witness, which is the pipeline's from then on.
func (p *pipeline) take(w *ir.Witness) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.totals.Exchanges++
	if p.har != nil {
		p.har.add(w)
	}
	p.walker.walk(w, p.recognise)
	p.walker.walk(w, p.hide)
	p.walker.walk(w, p.distinct)
	sum := p.hash(w)
	if t := p.traces[sum]; t != nil {
		t.Count++
		return
	}
	p.traces[sum] = &ir.Trace{Hash: sum, Witness: w, Count: 1}
	if len(p.traces) == batchSize {
		p.flush()
	}
}

// end sends what is left, and returns what was done.
func (p *pipeline) end() totals {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	return p.totals
}

// flush sends the traces. An agent does not wait for its collector, nor hoard:
// what is refused is counted and gone.
func (p *pipeline) flush() {
	if len(p.traces) == 0 {
		return
	}
	batch := new(ir.Batch)
	for _, t := range p.traces {
		batch.Traces = append(batch.Traces, t)
	}
	clear(p.traces)
	p.totals.Traces += len(batch.Traces)
	p.totals.Batches++
	if err := p.to.send(batch); err != nil {
		p.totals.Refused++
	}
}

// recognise names the format of a text.
func (p *pipeline) recognise(_ *position, d *ir.Data) {
	if v := d.GetPrimitive(); v != nil {
		if text, ok := v.Value.(*ir.Primitive_Text); ok {
			v.Format = p.formats.of(text.Text)
		}
	}
}

// secret names fields of which not even the hash leaves this machine: short
// secrets can be guessed from it.
var secret = map[string]bool{"password": true, "token": true, "pin": true}

// hide puts the hash of a value in its place.
func (p *pipeline) hide(at *position, d *ir.Data) {
	v := d.GetPrimitive()
	if v == nil || v.Value == nil {
		return
	}
	sum := p.hash(v)
	if secret[at.key()] {
		sum = 0
	}
	v.Value = &ir.Primitive_Hidden{Hidden: sum}
}

// distinct drops from a list what it already has.
func (p *pipeline) distinct(_ *position, d *ir.Data) {
	list := d.GetList()
	if list == nil {
		return
	}
	seen := make(map[uint64]bool, len(list.Elements))
	kept := list.Elements[:0]
	for _, e := range list.Elements {
		if sum := p.hash(e); !seen[sum] {
			seen[sum] = true
			kept = append(kept, e)
		}
	}
	clear(list.Elements[len(kept):])
	list.Elements = kept
}

// hash hashes a node of a witness.
func (p *pipeline) hash(m proto.Message) uint64 {
	if p.reflect {
		sum, _ := hashReflect(m) // of these messages it can hash every field
		return sum
	}
	switch m := m.(type) {
	case *ir.Witness:
		return p.hasher.witness(m)
	case *ir.Data:
		return p.hasher.data(m)
	default:
		return p.hasher.primitive(m.(*ir.Primitive))
	}
}
