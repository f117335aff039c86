// Load sends SETs to a raftcache cluster, says how long each took, and reads
// every key back at the end.
//
//	load -nodes 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003 -clients 64 -seconds 60
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"golang.org/x/sync/errgroup"

	"github.com/highwater-go/highwater/cases/internal/latency"
	"github.com/highwater-go/highwater/cases/raftcache/client"
)

// patience is for an election before the first SET and for the last GETs. After
// it, the nodes are taken for lost.
const patience = 20 * time.Second

type options struct {
	nodes         string
	clients, keys int
	sets          int
	seconds       time.Duration
	size          int
}

func main() {
	var o options
	flag.StringVar(&o.nodes, "nodes", "127.0.0.1:7001", "client `addresses` of the nodes, with commas between")
	flag.IntVar(&o.clients, "clients", 64, "connections that send at once")
	flag.IntVar(&o.keys, "keys", 100, "keys that each connection sets in turn")
	flag.IntVar(&o.sets, "sets", 0, "SETs of each connection (default as many as fit)")
	seconds := flag.Int("seconds", 60, "how long to send")
	flag.IntVar(&o.size, "size", 32, "bytes of a value")
	flag.Parse()
	o.seconds = time.Duration(*seconds) * time.Second
	logging.Disable() // the client knows what to do about a node that is not there
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	c := client.New(strings.Split(o.nodes, ",")...)
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, o.seconds+patience)
	defer cancel()
	if _, err := c.Do(ctx, "SET", "ready", "yes"); err != nil { // a new cluster elects a leader first
		return err
	}
	var took latency.Log
	var g errgroup.Group
	began := time.Now()
	for i := range o.clients {
		g.Go(func() error { return (&worker{c, o, i, began.Add(o.seconds)}).run(ctx, &took) })
	}
	err := g.Wait()
	r := took.Report(time.Since(began))
	r.Write(os.Stdout, "SET")
	fmt.Printf("100 ms or longer: %d\n", r.Over(100*time.Millisecond))
	return err
}

// worker has keys of its own, so that it knows what each must hold.
type worker struct {
	client *client.Client
	o      options
	number int
	until  time.Time
}

func (w *worker) run(ctx context.Context, took *latency.Log) error {
	last := make([]int, w.o.keys) // 1 and up: the last value that was acknowledged
	for n := 1; (w.o.sets == 0 || n <= w.o.sets) && time.Now().Before(w.until) && ctx.Err() == nil; n++ {
		start := time.Now()
		_, err := w.client.Do(ctx, "SET", w.key(n%w.o.keys), w.value(n))
		took.Add(time.Since(start), err)
		if err != nil {
			return err
		}
		last[n%w.o.keys] = n
	}
	for k, n := range last {
		if n == 0 || ctx.Err() != nil {
			continue
		}
		if got, err := w.client.Do(ctx, "GET", w.key(k)); err != nil || got != w.value(n) {
			return fmt.Errorf("%s: %v, %v; %q was acknowledged", w.key(k), got, err, w.value(n))
		}
	}
	return nil
}

func (w *worker) key(k int) string { return fmt.Sprintf("key-%d-%d", w.number, k) }

func (w *worker) value(n int) string { return fmt.Sprintf("%0*d", w.o.size, n) }
