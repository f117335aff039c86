// Connwait stores the measurements that devices send. Each message borrows one of a
// few connections, and one whose device is not known does not give it back, until there
// is none and every message waits. Repaired, giving back is deferred.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"strings"
	"sync/atomic"

	"github.com/highwater-go/highwater/corpus/made/connwait/pool"
	"github.com/highwater-go/highwater/corpus/made/frame"
)

// message is what a device sends: its number and rows.
type message struct {
	device int
	rows   []byte
}

type collector struct {
	conns    *pool.Pool
	devices  map[int][]byte // 16 MiB: what is known of each
	repaired bool
	stored   atomic.Int64
	refused  atomic.Int64
}

func main() {
	f := frame.Parse()
	c := &collector{conns: pool.New(4), devices: map[int][]byte{}, repaired: f.Repaired}
	for i := range 4 << 10 {
		c.devices[i] = frame.Touch(make([]byte, 4<<10))
	}
	rows := strings.Repeat("17.25;1013;0.5\n", max(1, f.Unit/15))
	f.Each(func(i int) {
		m, err := receive(incoming(i*7919%(5<<10), rows))
		if err != nil {
			log.Fatal(err)
		}
		go c.serve(m) // truth: starts
	})
	f.Stay()
}

// incoming is the next message of the queue.
func incoming(device int, rows string) io.Reader {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(device)), uint32(len(rows)))
	return io.MultiReader(bytes.NewReader(head), strings.NewReader(rows))
}

func receive(from io.Reader) (*message, error) {
	var head struct{ Device, Size uint32 }
	if err := binary.Read(from, binary.BigEndian, &head); err != nil {
		return nil, fmt.Errorf("head of a message: %w", err)
	}
	if head.Size > 1<<20 {
		return nil, fmt.Errorf("a message of %d bytes", head.Size)
	}
	m := &message{int(head.Device), make([]byte, head.Size)} // truth: allocates
	_, err := io.ReadFull(from, m.rows)
	return m, err
}

// serve is one message. One in five is of a device that nobody knows.
func (c *collector) serve(m *message) {
	if err := c.store(m); err != nil { // truth: calls
		c.refused.Add(1)
		return
	}
	c.stored.Add(1)
}

func (c *collector) store(m *message) error {
	conn := c.conns.Get() // truth: waits
	if c.repaired {
		defer c.conns.Put(conn)
	}
	known := c.devices[m.device]
	if known == nil {
		return errors.New("no such device") // truth: forgets
	}
	n := copy(conn.Buffer, m.rows)
	if crc32.ChecksumIEEE(conn.Buffer[:n]) == 0 && len(known) == 0 {
		return errors.New("nothing was stored")
	}
	if !c.repaired {
		c.conns.Put(conn)
	}
	return nil
}
