package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/highwater-go/highwater/cases/internal/probe"
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
	ends := []struct {
		what, address string
		handler       http.Handler
	}{
		{"ranges", *originAddress, origin(digits)},
		{"store", *storeAddress, store},
	}
	ended := make(chan error, len(ends))
	var servers []*http.Server
	for _, end := range ends {
		if err := probe.Loopback(end.address); err != nil {
			return err
		}
		l, err := net.Listen("tcp", end.address)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s at http://%s\n", end.what, l.Addr())
		server := &http.Server{Handler: end.handler}
		servers = append(servers, server)
		go func() { ended <- server.Serve(l) }()
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	return errors.Join(err, shutdown(servers))
}

// shutdown lets requests under way finish, for a while.
func shutdown(servers []*http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var errs []error
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
