// Raftlog keeps the settings of devices by hashicorp/raft, with its log in memory.
// Snapshots are as good as switched off, since the state is small, and so the log is
// never cut. Repaired, there is one every few hundred entries.
package main

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"log"
	"math"
	"time"

	"github.com/hashicorp/raft"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const devices = 4096

// settings is the state: 16 MiB, a page a device.
type settings struct {
	pages [devices][]byte
	sums  [devices]uint32
}

// Apply takes a device's number and its new page.
func (s *settings) Apply(l *raft.Log) any {
	if len(l.Data) < 4 {
		return errors.New("a command is cut")
	}
	n := binary.BigEndian.Uint32(l.Data) % devices
	copy(s.pages[n], l.Data[4:])
	s.sums[n] = crc32.ChecksumIEEE(l.Data[4:])
	return nil
}

// Snapshot is of the sums alone: a device sends its page again after a restart.
func (s *settings) Snapshot() (raft.FSMSnapshot, error) {
	sums := s.sums
	return snapshot(sums[:]), nil
}

func (s *settings) Restore(from io.ReadCloser) error {
	defer from.Close()
	return binary.Read(from, binary.BigEndian, &s.sums)
}

type snapshot []uint32

func (s snapshot) Persist(sink raft.SnapshotSink) error {
	if err := binary.Write(sink, binary.BigEndian, []uint32(s)); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

func (s snapshot) Release() {}

func main() {
	f := frame.Parse()
	state := &settings{}
	for i := range state.pages {
		state.pages[i] = frame.Touch(make([]byte, 4<<10))
	}
	node, err := start(state, f.Repaired)
	if err != nil {
		log.Fatal(err)
	}
	f.Each(func(i int) {
		if err := node.Apply(command(i, f.Unit), 5*time.Second).Error(); err != nil { // truth: keeps
			log.Fatal(err)
		}
	})
	f.Stay()
}

// command is a device's new page.
func command(i, size int) []byte {
	c := frame.Touch(make([]byte, max(8, size))) // truth: allocates
	binary.BigEndian.PutUint32(c, uint32(i*31))
	return c
}

// start starts a cluster of one.
func start(state raft.FSM, snapshots bool) (*raft.Raft, error) {
	config := raft.DefaultConfig()
	config.LocalID, config.LogOutput = "one", io.Discard
	config.HeartbeatTimeout, config.ElectionTimeout, config.LeaderLeaseTimeout = 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	config.SnapshotThreshold = math.MaxUint64 // truth: sets
	if snapshots {
		config.SnapshotThreshold, config.TrailingLogs, config.SnapshotInterval = 100, 100, 20*time.Millisecond
	}
	store := raft.NewInmemStore() // truth: makes
	address, transport := raft.NewInmemTransport("")
	servers := raft.Configuration{Servers: []raft.Server{{ID: config.LocalID, Address: address}}}
	node, err := raft.NewRaft(config, state, store, store, raft.NewInmemSnapshotStore(), transport)
	if err != nil {
		return nil, err
	}
	if err := node.BootstrapCluster(servers).Error(); err != nil {
		return nil, err
	}
	for leads := range node.LeaderCh() {
		if leads {
			return node, nil
		}
	}
	return nil, errors.New("it does not lead")
}
