// Fanburst asks all stores for their stock every few seconds, by a goroutine for each of
// thousands, which wait for their answer a moment and end. The room is large enough. No
// fault, and it has no faulty form.
package main

import (
	"context"
	"errors"
	"log"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const answerBytes = 12 << 10

type inventory struct {
	stores int
	pieces atomic.Int64
	names  [][]byte // 10 MiB
}

var errClosed = errors.New("store is closed")

func (v *inventory) ask(ctx context.Context, store int) error {
	answer := frame.Touch(make([]byte, answerBytes))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(300 * time.Millisecond):
	}
	if answer[0] == 0 {
		return errClosed
	}
	v.pieces.Add(int64(answer[0]) + int64(v.names[store%len(v.names)][0]))
	return nil
}

func (v *inventory) count(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	for store := range v.stores {
		all.Go(func() error { return v.ask(ctx, store) })
	}
	return all.Wait()
}

func main() {
	f := frame.Parse()
	v := &inventory{stores: int(f.Total / (answerBytes + 4<<10))} // with the stack
	for range 10 << 6 {
		v.names = append(v.names, frame.Touch(make([]byte, 16<<10)))
	}
	for !f.Over() {
		if err := v.count(context.Background()); err != nil {
			log.Fatal(err)
		}
		for pause := time.Now().Add(2 * time.Second); time.Now().Before(pause) && !f.Over(); {
			time.Sleep(20 * time.Millisecond)
		}
	}
	f.Stay()
}
