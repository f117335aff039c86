package program

import (
	"context"
	"io"
	"net/http"
	"testing"
)

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":6060", "[::]:0", "192.0.2.1:80", "example.org:80", "nonsense", ""} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("%q was taken", address)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := Listen(address)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}

func TestARequestUnderWayIsAnsweredBeforeTheEnd(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			stop()
			io.WriteString(w, "whole")
		}))
	}()
	r, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, err := io.ReadAll(r.Body); err != nil || string(b) != "whole" {
		t.Errorf("%q, %v", b, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get("http://" + l.Addr().String()); err == nil {
		t.Error("it still answers")
	}
}
