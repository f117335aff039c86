package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/highwater-go/highwater/cases/internal/latency"
	"github.com/highwater-go/highwater/cases/internal/program"
)

// load says what traffic to make.
type load struct {
	requests int // of pages of people and orders, alternately
	clients  int // at once
	exports  int // of exportMB each, among the others
	exportMB int
	blobMB   int // one blob at the end; 0: none
}

// request makes the nth request; base is "http://HOST:PORT".
func (l load) request(base string, n int) *http.Request {
	method, path, body := "GET", fmt.Sprintf("/users/%d", n%1000), ""
	switch {
	case l.exports > 0 && n%max(l.requests/l.exports, 1) == 0:
		path = fmt.Sprintf("/export/%d", l.exportMB)
	case n%2 == 1:
		method, path = "POST", "/orders"
		body = fmt.Sprintf(`{"customer":"user%d@example.org","lines":[{"article":"A-%d","count":%d}],"date":"2026-01-%02d"}`, n%100, n%10, n%7, 1+n%28)
	}
	r, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		panic(err) // it is made of parts that are known
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept-Encoding", "gzip")
	return r
}

// live serves the API on a loopback address and makes the traffic to it.
func (l load) live(ctx context.Context, address string, out io.Writer) error {
	listener, err := program.Listen(address)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- program.Serve(serving, listener, api()) }()
	transport := &http.Transport{MaxIdleConnsPerHost: l.clients, DisableCompression: true}
	answers := new(latency.Log)
	start := time.Now()
	l.ask(ctx, &http.Client{Transport: transport}, "http://"+listener.Addr().String(), answers)
	answers.Report(time.Since(start)).Write(out, "requests")
	transport.CloseIdleConnections()
	stop()
	return <-served
}

// ask makes all requests, some at once.
func (l load) ask(ctx context.Context, client *http.Client, base string, answers *latency.Log) {
	numbers := make(chan int)
	var clients sync.WaitGroup
	for range l.clients {
		clients.Go(func() {
			for n := range numbers {
				start := time.Now()
				err := exchange(client, l.request(base, n).WithContext(ctx))
				answers.Add(time.Since(start), err)
			}
		})
	}
	for n := range l.requests {
		if ctx.Err() != nil {
			break
		}
		numbers <- n
	}
	close(numbers)
	clients.Wait()
}

func exchange(client *http.Client, r *http.Request) error {
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", r.Method, r.URL.Path, response.Status)
	}
	return nil
}

// record answers a request and returns both as they go over the wire.
func record(handler http.Handler, r *http.Request) (request, response []byte, err error) {
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		return nil, nil, err
	}
	if r.GetBody != nil {
		if r.Body, err = r.GetBody(); err != nil {
			return nil, nil, err
		}
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	handler.ServeHTTP(w, r)
	answer := http.Response{StatusCode: w.status, ProtoMajor: 1, ProtoMinor: 1, Header: w.header,
		ContentLength: int64(w.body.Len()), Body: io.NopCloser(&w.body)}
	var in bytes.Buffer
	err = answer.Write(&in)
	return out.Bytes(), in.Bytes(), err
}

// recorder is a http.ResponseWriter that keeps what is written.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
