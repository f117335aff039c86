package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/highwater-go/highwater/cases/internal/program"
)

// listening is what a server prints before its address, on a line of its own.
const listening = "listening on "

// maxMessage is of a record: a page of 10,000 rows fits.
const maxMessage = 16 << 20

func listen(address string, out io.Writer) (net.Listener, error) {
	l, err := program.Listen(address)
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
	return program.Serve(ctx, l, handler)
}
