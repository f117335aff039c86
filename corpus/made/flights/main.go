// Flights joins equal questions to one call of the database with singleflight. The
// caller waits for 20 ms at most and goes, but the call has no end of its own where
// the database does not answer, as it does not for one of its shards. Repaired, the
// call ends with the caller's context.
package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type reply struct{ rows []byte }

type database struct{ shards []chan *reply }

type front struct {
	calls    singleflight.Group
	db       *database
	repaired bool
}

func main() {
	f := frame.Parse()
	w := &front{db: &database{shards: []chan *reply{make(chan *reply)}}, repaired: f.Repaired}
	f.Each(func(i int) { go w.customer(i, f.Unit) })
	f.Stay()
}

// customer handles one request.
func (w *front) customer(id, size int) *reply {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	asks := context.Background()
	if w.repaired {
		asks = ctx
	}
	answer := w.calls.DoChan(fmt.Sprint("customer-", id), func() (any, error) { // truth: starts
		return w.db.query(asks, size) // truth: queries
	})
	select {
	case r := <-answer:
		got, _ := r.Val.(*reply)
		return got
	case <-ctx.Done():
		return nil
	}
}

func (db *database) query(ctx context.Context, size int) (*reply, error) {
	rows := frame.Touch(make([]byte, size)) // truth: allocates
	select {                                // truth: waits
	case r := <-db.shards[0]:
		r.rows = rows
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
