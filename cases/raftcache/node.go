package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
)

// node is one member of the cluster.
type node struct {
	self  peer
	peers []peer
	state *state
	raft  *raft.Raft
	apply *applier

	stop    context.CancelFunc
	working sync.WaitGroup
	close   func() error
}

// snapshotEvery is how many records the log gathers before the state is written
// out in their place, snapshotLook how often that is looked at.
const (
	snapshotEvery = 20_000
	snapshotLook  = 10 * time.Second
	connections   = 3
	patience      = 10 * time.Second
)

// start joins or founds the cluster, with the log and the snapshots in o.data.
func start(o options, self peer, peers []peer) (*node, error) {
	if err := os.MkdirAll(o.data, 0o700); err != nil {
		return nil, err
	}
	logs, err := raftboltdb.New(raftboltdb.Options{Path: filepath.Join(o.data, "log.db"), NoSync: !o.sync})
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	n := &node{self: self, peers: peers, state: newState(), close: logs.Close}
	if err := n.join(o, logs); err != nil {
		logs.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	n.stop, n.apply = stop, newApplier(n.raft)
	n.working.Go(func() { n.apply.run(ctx, o.faults.Has("deferloop")) })
	n.working.Go(func() { n.sweep(ctx) })
	return n, nil
}

// join starts raft. The first start of each node has the same idea of who is in
// the cluster; later ones have it from their log.
func (n *node) join(o options, logs *raftboltdb.BoltStore) error {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(n.self.id)
	c.SnapshotThreshold, c.TrailingLogs, c.SnapshotInterval = snapshotEvery, snapshotEvery, snapshotLook
	c.BatchApplyCh = true // raft gathers what waits in its queue for one write to disk
	c.Logger = hclog.New(&hclog.LoggerOptions{Name: n.self.id, Level: hclog.Error, Output: os.Stderr})
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(o.data, 2, c.Logger)
	if err != nil {
		return err
	}
	known, err := raft.HasExistingState(logs, logs, snapshots)
	if err != nil {
		return err
	}
	if !known {
		if err := found(c, logs, snapshots, n.peers); err != nil {
			return err
		}
	}
	wire, err := raft.NewTCPTransportWithLogger(n.self.raft, nil, connections, patience, c.Logger)
	if err != nil {
		return err
	}
	n.raft, err = raft.NewRaft(c, &machine{n.state}, logs, logs, snapshots, wire)
	if err != nil {
		return errors.Join(err, wire.Close())
	}
	n.close = func() error { return errors.Join(wire.Close(), logs.Close()) }
	return nil
}

func found(c *raft.Config, logs *raftboltdb.BoltStore, snapshots raft.SnapshotStore, peers []peer) error {
	var all raft.Configuration
	for _, p := range peers {
		all.Servers = append(all.Servers, raft.Server{ID: raft.ServerID(p.id), Address: raft.ServerAddress(p.raft)})
	}
	_, wire := raft.NewInmemTransport("") // the founding sends nothing
	if err := raft.BootstrapCluster(c, logs, logs, snapshots, wire, all); err != nil {
		return fmt.Errorf("found the cluster: %w", err)
	}
	return nil
}

var errNoLeader = errors.New("NOLEADER there is none now, ask again")

// leading is nil on the leader, elsewhere an error that names the leader's
// address for clients. A leader that was cut off from the others believes in
// itself for half a second at most (raft's lease): so long, and no longer, a
// read may be old. Writes are never.
func (n *node) leading() error {
	if n.raft.State() == raft.Leader {
		return nil
	}
	_, id := n.raft.LeaderWithID()
	for _, p := range n.peers {
		if p.id == string(id) && id != "" && p.id != n.self.id {
			return fmt.Errorf("LEADER %s", p.clients)
		}
	}
	return errNoLeader
}

// sweep drops expired values, until ctx ends.
func (n *node) sweep(ctx context.Context) {
	t := time.NewTicker(10 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			n.state.sweep(now.UnixMilli())
		}
	}
}

// end hands leadership over, if there is somebody to take it, and stops: the writes
// first, for raft answers none that is in its queue when it is shut down.
func (n *node) end() error {
	if n.raft.State() == raft.Leader && len(n.peers) > 1 {
		n.raft.LeadershipTransfer().Error() // without a successor the others elect one
	}
	n.stop()
	n.working.Wait()
	return errors.Join(n.raft.Shutdown().Error(), n.close())
}
