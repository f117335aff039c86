package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/hashicorp/raft"

	"github.com/highwater-go/highwater/cases/raftcache/resp"
)

// machine applies the replicated log to a state: it is raft's FSM. A record
// holds a batch of commands, each with the leader's time before its name.
type machine struct{ state *state }

// encode makes a record of commands.
func encode(now int64, commands [][][]byte) []byte {
	var b []byte
	at := strconv.AppendInt(nil, now, 10)
	for _, args := range commands {
		b = resp.AppendCommand(b, append([][]byte{at}, args...)...)
	}
	return b
}

// Apply implements raft.FSM: it returns a []any with a reply to each command.
func (m *machine) Apply(l *raft.Log) any {
	var replies []any
	r := bufio.NewReader(bytes.NewReader(l.Data))
	for {
		args, err := resp.ReadCommand(r)
		if err == io.EOF {
			return replies
		}
		if err != nil {
			// The record was made by encode: a bug of ours, or a damaged disk.
			panic(fmt.Sprintf("record %d of the log: %v", l.Index, err))
		}
		replies = append(replies, m.one(texts(args)))
	}
}

func (m *machine) one(args []string) any {
	now, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || len(args) < 2 {
		return fmt.Errorf("ERR a record without a time: %q", args)
	}
	c, err := lookup(args[1:])
	if err != nil {
		return err // written by a newer version; every node answers so
	}
	return c.do(m.state, now, args[2:])
}

func texts(args [][]byte) []string {
	s := make([]string, len(args))
	for i, a := range args {
		s[i] = string(a)
	}
	return s
}

// Snapshot implements raft.FSM. Raft holds Apply back until it returns, so the
// state is written out here, in memory, and to disk later.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	var b bytes.Buffer
	if err := m.state.write(&b); err != nil {
		return nil, err
	}
	return snapshot(b.Bytes()), nil
}

// Restore implements raft.FSM.
func (m *machine) Restore(r io.ReadCloser) error {
	defer r.Close()
	return m.state.read(r)
}

type snapshot []byte

// Persist implements raft.FSMSnapshot.
func (s snapshot) Persist(sink raft.SnapshotSink) error {
	if _, err := sink.Write(s); err != nil {
		sink.Cancel()
		return err
	}
	return sink.Close()
}

// Release implements raft.FSMSnapshot.
func (s snapshot) Release() {}
