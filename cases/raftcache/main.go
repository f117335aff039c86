// Raftcache is a cache that speaks the protocol of Redis and is replicated by
// Raft: any minority of its nodes may die, and no acknowledged write is lost.
//
//	P=n1=127.0.0.1:7101=127.0.0.1:7001,n2=127.0.0.1:7102=127.0.0.1:7002,n3=127.0.0.1:7103=127.0.0.1:7003
//	raftcache -id n1 -peers $P &  raftcache -id n2 -peers $P &  raftcache -id n3 -peers $P &
//	redis-cli -p 7001 SET key value
//
// GET, SET, SETEX, TTL, DEL, ZINCRBY and ZREVRANGE mean what they mean in
// Redis; HIT counts an event and HITS how many there were in the last seconds.
// Only the leader answers; the others reply "LEADER address".
//
// It is one of the cases: -fault gives it one of its known faults.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/internal/probe"
	"github.com/highwater-go/highwater/cases/internal/program"
)

var known = []string{"deferloop"}

type options struct {
	id, peers, data, debug string
	sync                   bool
	faults                 *faults.Set
}

func main() { program.Main("raftcache", run) }

func run(ctx context.Context, args []string, _ io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	self, peers, err := parsePeers(o.peers, o.id)
	if err != nil {
		return err
	}
	if err := probe.Start(ctx, o.debug); err != nil {
		return err
	}
	n, err := start(o, self, peers)
	if err != nil {
		return err
	}
	l, err := program.Listen(self.clients)
	if err != nil {
		return errors.Join(err, n.end())
	}
	log.Printf("%s listens on %s", self.id, l.Addr())
	s := &server{node: n}
	return errors.Join(s.serve(ctx, l), n.end())
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("raftcache", flag.ContinueOnError)
	f.StringVar(&o.id, "id", "n1", "which of the peers this `node` is")
	f.StringVar(&o.peers, "peers", "n1=127.0.0.1:7101=127.0.0.1:7001", "all `nodes`: id=raft-address=client-address, with commas between")
	f.StringVar(&o.data, "data", "", "`folder` of the log and the snapshots (default raftcache-ID)")
	f.StringVar(&o.debug, "debug", "", "loopback `address` for profiles and metrics (default none)")
	f.BoolVar(&o.sync, "sync", true, "wait for the disk at each write; without it a power cut, though no killed process, can lose some")
	o.faults = faults.Flag(f, known...)
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("flags only, not %q", f.Args())
	}
	if o.data == "" {
		o.data = "raftcache-" + o.id
	}
	return o, nil
}
