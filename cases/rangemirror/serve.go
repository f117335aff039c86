package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/highwater-go/highwater/cases/internal/program"
	"github.com/highwater-go/highwater/cases/internal/s3local"
)

// serveCommand runs the two ends of a mirror, an origin and a store, until it is
// asked to end. The store keeps no bytes: 32 archives are 4 GB.
func serveCommand(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("rangemirror serve", flag.ContinueOnError)
	originAddress := f.String("origin", defaultOrigin, "loopback `address` for the ranges")
	storeAddress := f.String("store", defaultStore, "loopback `address` for the store")
	if err := f.Parse(args); err != nil {
		return err
	}
	store, err := s3local.New(bucket, true)
	if err != nil {
		return err
	}
	serving, ctx := errgroup.WithContext(ctx)
	for _, end := range []struct {
		what, address string
		handler       http.Handler
	}{
		{"ranges", *originAddress, origin(digits)},
		{"store", *storeAddress, store},
	} {
		l, err := program.Listen(end.address)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s at http://%s\n", end.what, l.Addr())
		serving.Go(func() error { return program.Serve(ctx, l, end.handler) })
	}
	return serving.Wait()
}
