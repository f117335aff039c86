// Package program is what the programs of the cases do alike at their edges:
// they end when they are asked to, and listen where this machine alone can
// reach them.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Main runs a program until it is done, or is asked to end by an interrupt or
// SIGTERM: then ctx ends.
func Main(name string, run func(ctx context.Context, args []string, out io.Writer) error) {
	log.SetFlags(0)
	log.SetPrefix(name + ": ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Fatal(err)
	}
}

// Loopback is an error unless the address is of this machine alone.
func Loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s is not a loopback address; try 127.0.0.1:0", address)
	}
	return nil
}

// Listen listens on a loopback address, and on no other.
func Listen(address string) (net.Listener, error) {
	if err := Loopback(address); err != nil {
		return nil, err
	}
	return net.Listen("tcp", address)
}

// patience is for requests under way when a server is to end.
const patience = 5 * time.Second

// Serve answers until ctx ends, and lets the requests under way finish. It
// closes the listener.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	waiting, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := server.Shutdown(waiting); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
