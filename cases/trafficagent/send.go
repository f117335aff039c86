package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/highwater-go/highwater/cases/internal/program"
	"github.com/highwater-go/highwater/cases/trafficagent/ir"
)

const mediaType = "application/x-protobuf"

// remote is a collector at http://HOST:PORT.
type remote struct {
	client http.Client
	url    string
}

func newRemote(address string) *remote {
	return &remote{client: http.Client{Timeout: 5 * time.Second}, url: "http://" + address}
}

func (r *remote) send(batch *ir.Batch) error {
	b, err := proto.Marshal(batch)
	if err != nil {
		return err
	}
	response, err := r.client.Post(r.url+"/traces", mediaType, bytes.NewReader(b))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the collector answers %s", response.Status)
	}
	return nil
}

// nobody takes no traces: with -har, or to see what the agent alone costs.
type nobody struct{}

func (nobody) send(*ir.Batch) error { return nil }

// collector adds up what agents send.
//
//	POST /traces   a Batch
//	GET  /stats    what came, as JSON
type collector struct {
	mu    sync.Mutex
	stats collected
	paths map[string]int
}

type collected struct {
	Batches   int            `json:"batches"`
	Traces    int            `json:"traces"`
	Exchanges int            `json:"exchanges"`
	Paths     map[string]int `json:"paths"` // exchanges by method and path, 1,000 at most
}

// largestBatch is what a collector takes at once.
const largestBatch = 64 << 20

func newCollector() *collector { return &collector{paths: map[string]int{}} }

func (c *collector) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /traces", c.take)
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		c.mu.Lock()
		defer c.mu.Unlock()
		s := c.stats
		s.Paths = c.paths
		json.NewEncoder(w).Encode(s)
	})
	return mux
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestBatch))
	var batch ir.Batch
	if err == nil {
		err = proto.Unmarshal(b, &batch)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Batches++
	c.stats.Traces += len(batch.Traces)
	for _, t := range batch.Traces {
		c.stats.Exchanges += int(t.Count)
		path := t.GetWitness().GetMethod() + " " + t.GetWitness().GetPath()
		if _, known := c.paths[path]; known || len(c.paths) < 1000 {
			c.paths[path] += int(t.Count)
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// collect serves a collector until ctx ends.
func collect(ctx context.Context, address string, out io.Writer) error {
	l, err := program.Listen(address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "collector at http://%s\n", l.Addr())
	return program.Serve(ctx, l, newCollector().handler())
}
