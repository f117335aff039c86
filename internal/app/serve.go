package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/internal/show/web"
)

// listenLoopback refuses addresses that others could reach.
func listenLoopback(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, Usagef("--listen 127.0.0.1:8080", "--listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, Usagef("ssh -L brings a loopback address elsewhere", "--listen: %s is not a loopback address: a recording is not shown to the network", host)
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, Usagef("leave --listen out for a free port", "--listen: the port is in use: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return l, nil
}

// How long a client may take: a page of a long recording is computed for seconds.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 5 * time.Minute
	idleTimeout   = 2 * time.Minute // of a connection
	mostHeader    = 64 << 10
)

// serveUntil answers until ctx ends or nobody has asked for long (0: for ever), which
// it says.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler, long time.Duration) (idle bool, err error) {
	asked := &web.Idle{Handler: h}
	server := &http.Server{Handler: asked, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader}
	done, quiet := make(chan error, 1), make(chan bool, 1)
	go func() { done <- server.Serve(l) }()
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { quiet <- asked.Wait(waiting, long) }()
	select {
	case err := <-done:
		cancel()
		<-quiet
		return false, fmt.Errorf("open: %w", err)
	case idle = <-quiet: // or ctx has ended
	}
	ending, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = server.Shutdown(ending) // who still reads is cut off
	_ = server.Close()
	<-done
	return idle, nil
}
