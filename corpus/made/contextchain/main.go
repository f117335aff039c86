// Contextchain derives the context of each round from that of the round before,
// with a value more, and so keeps the values of all. Repaired, each is derived
// from the first.
package main

import (
	"context"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type traceKey struct{}

func main() {
	f := frame.Parse()
	base := context.Background()
	ctx := base
	f.Each(func(i int) {
		if f.Repaired {
			ctx = base
		}
		ctx = trace(ctx, f.Unit)
	})
	f.Stay()
	if ctx.Value(traceKey{}) == nil {
		panic("no trace")
	}
}

func trace(ctx context.Context, size int) context.Context {
	spans := frame.Touch(make([]byte, size))         // truth: allocates
	return context.WithValue(ctx, traceKey{}, spans) // truth: keeps
}
