// Resync is a store of settings with a log of all changes. When a replica has lost touch it
// is given the state again: the whole log is read, its records are decoded into a list,
// and the list is applied to an empty table, which is sent. Replicas lose touch every few
// seconds here. Repaired, each record is applied when it is read.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const (
	valueBytes = 2 << 10
	keys       = 300
)

type change struct {
	key   string
	value []byte
}

// journal gives the log as it is on the disk, of left bytes: length, sum and record.
type journal struct {
	left, n int
	part    []byte
	record  []byte
}

func (j *journal) Read(p []byte) (int, error) {
	if len(j.part) == 0 {
		if j.left <= 0 {
			return 0, io.EOF
		}
		if j.record == nil {
			j.record = make([]byte, 8+14+valueBytes)
		}
		record := j.record[8:]
		copy(record, fmt.Sprintf("setting-%06d", j.n*31%keys))
		binary.LittleEndian.PutUint64(record[20:], uint64(j.n))
		binary.LittleEndian.PutUint32(j.record, uint32(len(record)))
		binary.LittleEndian.PutUint32(j.record[4:], crc32.ChecksumIEEE(record))
		j.part = j.record
		j.left -= len(j.part)
		j.n++
	}
	n := copy(p, j.part)
	j.part = j.part[n:]
	return n, nil
}

// next decodes one record.
func next(from io.Reader) (*change, error) {
	var head [8]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	record := make([]byte, binary.LittleEndian.Uint32(head[:])) // truth: decodes
	if _, err := io.ReadFull(from, record); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(record) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, fmt.Errorf("record of %d bytes is damaged", len(record))
	}
	return &change{string(record[:14]), record[14:]}, nil
}

type table map[string][]byte

func (t table) apply(c *change) { t[c.key] = c.value }

// replay makes the state of a log that is read as a whole.
func replay(from io.Reader) (table, error) {
	raw, err := io.ReadAll(from) // truth: reads
	if err != nil {
		return nil, err
	}
	var changes []*change
	for in := bytes.NewReader(raw); ; {
		c, err := next(in) // truth: record
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		changes = append(changes, c) // truth: grows
	}
	t := table{}
	for _, c := range changes {
		t.apply(c)
	}
	return t, nil
}

func follow(from io.Reader) (table, error) {
	in, t := bufio.NewReaderSize(from, 64<<10), table{}
	for {
		c, err := next(in)
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		t.apply(c)
	}
}

// node is what answers while that goes on: 16 MiB of sessions.
type node struct {
	sessions map[int]*session
	synced   int
}

type session struct {
	user string
	seen [28]int64
}

func newNode() *node {
	n := &node{sessions: map[int]*session{}}
	for i := range 56_000 {
		n.sessions[i] = &session{user: fmt.Sprint("user-", i), seen: [28]int64{int64(i)}}
	}
	return n
}

// send is what a replica gets.
func (n *node) send(t table, to io.Writer) error {
	for key, value := range t {
		if _, err := fmt.Fprintf(to, "%s %x", key, value[:32]); err != nil {
			return err
		}
	}
	n.synced++
	return nil
}

// pause waits, and is false where the program is to end.
func pause(f *frame.Frame, long time.Duration) bool {
	for end := time.Now().Add(long); time.Now().Before(end) && !f.Over(); {
		time.Sleep(20 * time.Millisecond)
	}
	return !f.Over()
}

func main() {
	f := frame.Parse()
	n := newNode()
	for long := 4 * time.Second; pause(f, long); long = 2 * time.Second {
		state := replay
		if f.Repaired {
			state = follow
		}
		t, err := state(&journal{left: int(f.Total / 4 * 3)})
		if err != nil {
			log.Fatal(err)
		}
		if err := n.send(t, io.Discard); err != nil {
			log.Fatal(err)
		}
	}
	f.Stay()
	log.Printf("%d replicas synced, %d sessions", n.synced, len(n.sessions))
}
