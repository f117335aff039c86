package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/highwater-go/highwater/cases/internal/probe"
)

// listening is what a server prints before its address, on a line of its own.
const listening = "listening on "

// maxMessage is of a record: a page of 10,000 rows fits.
const maxMessage = 16 << 20

func listen(address string, out io.Writer) (net.Listener, error) {
	if err := probe.Loopback(address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(out, listening+l.Addr().String())
	return l, nil
}

// serveGRPC serves until ctx ends, and ends the calls under way with it.
func serveGRPC(ctx context.Context, address string, out io.Writer, service *grpc.ServiceDesc, implementation any) error {
	l, err := listen(address, out)
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage))
	server.RegisterService(service, implementation)
	defer context.AfterFunc(ctx, server.Stop)()
	return server.Serve(l)
}

func dial(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
}

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, address string, out io.Writer, handler http.Handler) error {
	l, err := listen(address, out)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
