package main

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"sync"
	"testing"

	"google.golang.org/grpc"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/internal/s3local"
)

// eachFault runs a test on the repaired program, and with each fault.
func eachFault(t *testing.T, test func(t *testing.T, fault *faults.Set)) {
	t.Helper()
	for _, name := range append([]string{"none"}, knownFaults...) {
		t.Run(name, func(t *testing.T) { test(t, faults.Of(name)) })
	}
}

// ends is the three parts of a sync, in one process.
type ends struct {
	*engine
	store           *s3local.Store
	writing         chan struct{} // closed when the destination has the first record of a table
	stopDestination func()
}

// noted is a destination that says when it has the first record.
type noted struct {
	*destination
	once    sync.Once
	writing chan struct{}
}

func (n *noted) write(ctx context.Context, table string, next func() ([]byte, error)) (int64, error) {
	return n.destination.write(ctx, table, func() ([]byte, error) {
		record, err := next()
		n.once.Do(func() { close(n.writing) })
		return record, err
	})
}

func newEnds(t *testing.T, fault *faults.Set, s source) ends {
	t.Helper()
	store, url := serveStore(t)
	s.oneRecord = fault.Has("onerecord")
	from, _ := serveService(t, &sourceService, &s)
	d := &noted{destination: destinationOf(t, url, fault), writing: make(chan struct{})}
	to, stop := serveService(t, &destinationService, d)
	return ends{&engine{source: from, destination: to, allTables: fault.Has("alltables")}, store, d.writing, stop}
}

// serveStore serves an empty store until the test's end.
func serveStore(t *testing.T) (store *s3local.Store, url string) {
	t.Helper()
	store, err := s3local.New(bucket, false)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(store)
	t.Cleanup(server.Close)
	return store, server.URL
}

func destinationOf(t *testing.T, store string, fault *faults.Set) *destination {
	t.Helper()
	d, err := newDestination(newUploads(store, bucket, fault.Has("noseek")))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// serveService serves on loopback and returns a connection to it.
func serveService(t *testing.T, service *grpc.ServiceDesc, implementation any) (to *grpc.ClientConn, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	server.RegisterService(service, implementation)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	to, err = dial(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		to.Close()
		server.Stop()
		if err := <-ended; err != nil && !errors.Is(err, grpc.ErrServerStopped) { // before it served
			t.Error(err)
		}
	})
	return to, server.Stop
}
