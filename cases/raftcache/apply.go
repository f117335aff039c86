package main

import (
	"context"
	"errors"
	"log"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// request is a write that waits for its reply.
type request struct {
	args  [][]byte
	reply chan any // holds one
}

// applier brings writes into the replicated log: one goroutine proposes them,
// all that wait as one record, and another answers when they are committed.
type applier struct {
	raft      *raft.Raft
	requests  chan request
	proposals chan proposal
}

// proposal is a record on its way, and who waits for it.
type proposal struct {
	requests []request
	future   raft.ApplyFuture
}

const (
	batchMost    = 256
	applyTimeout = 5 * time.Second // to get into the log's queue
	slowBatch    = 100 * time.Millisecond
)

func newApplier(r *raft.Raft) *applier {
	return &applier{raft: r, requests: make(chan request, 4*batchMost), proposals: make(chan proposal, batchMost)}
}

// do writes and waits for the reply, which is an error when nobody knows
// whether the write was done.
func (a *applier) do(ctx context.Context, args [][]byte) any {
	q := request{args, make(chan any, 1)}
	select {
	case a.requests <- q:
	case <-ctx.Done():
		return errEnding
	}
	select {
	case r := <-q.reply:
		return r
	case <-ctx.Done():
		return errEnding
	}
}

var errEnding = errors.New("ERR this node is ending")

// run works until ctx ends.
func (a *applier) run(ctx context.Context, deferring bool) {
	var answering sync.WaitGroup
	answering.Go(a.answer)
	if deferring {
		a.proposeDeferring(ctx)
	} else {
		a.propose(ctx)
	}
	close(a.proposals)
	answering.Wait()
}

// propose is the loop that every write passes.
func (a *applier) propose(ctx context.Context) {
	for {
		batch := a.take(ctx)
		if batch == nil {
			return
		}
		began := time.Now()
		size := a.send(batch)
		report(time.Since(began), len(batch), size)
	}
}

// proposeDeferring is propose with the report deferred. The loop has no end and
// neither has the list of deferred calls, each holding its three variables.
func (a *applier) proposeDeferring(ctx context.Context) {
	for {
		var took time.Duration // also: deferloop
		requests, size := 0, 0 // also: deferloop
		defer func() {         // fault: deferloop
			report(took, requests, size)
		}()
		batch := a.take(ctx)
		if batch == nil {
			return
		}
		began := time.Now()
		requests, size = len(batch), a.send(batch)
		took = time.Since(began)
	}
}

// report logs a batch that took long to hand over.
func report(took time.Duration, requests, size int) {
	if took > slowBatch {
		log.Printf("a batch of %d requests and %d bytes waited %s", requests, size, took.Round(time.Millisecond))
	}
}

// take waits for a request and returns it with all others that wait; nil when
// ctx has ended.
func (a *applier) take(ctx context.Context) []request {
	var batch []request
	select {
	case q := <-a.requests:
		batch = append(batch, q)
	case <-ctx.Done():
		return nil
	}
	for len(batch) < batchMost {
		select {
		case q := <-a.requests:
			batch = append(batch, q)
		default:
			return batch
		}
	}
	return batch
}

// send puts a record into the log's queue and returns its size.
func (a *applier) send(batch []request) int {
	commands := make([][][]byte, len(batch))
	for i, q := range batch {
		commands[i] = q.args
	}
	record := encode(time.Now().UnixMilli(), commands)
	a.proposals <- proposal{batch, a.raft.Apply(record, applyTimeout)}
	return len(record)
}

// answer replies to the requests of each record, in the log's order.
func (a *applier) answer() {
	for p := range a.proposals {
		err := p.future.Error()
		if err == nil {
			for i, reply := range p.future.Response().([]any) {
				p.requests[i].reply <- reply
			}
			continue
		}
		for _, q := range p.requests {
			q.reply <- refusal(err)
		}
	}
}

// refusal tells a client what to do about a write that raft did not commit.
func refusal(err error) error {
	if errors.Is(err, raft.ErrNotLeader) || errors.Is(err, raft.ErrLeadershipLost) || errors.Is(err, raft.ErrLeadershipTransferInProgress) {
		return errNoLeader // perhaps done, perhaps not: ask again
	}
	return errors.New("ERR " + err.Error())
}
