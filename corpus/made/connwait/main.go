// Connwait stores the measurements that devices send. Each request borrows one of a
// few connections, and one whose rows are refused does not give it back, until there
// is none and every request waits. Repaired, giving back is deferred.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"sync/atomic"

	"github.com/highwater-go/highwater/corpus/made/connwait/pool"
	"github.com/highwater-go/highwater/corpus/made/frame"
)

type request struct {
	Device int             `json:"device"`
	Rows   json.RawMessage `json:"rows"`
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
	rows := strings.Repeat("[17.25,1013,0.5],", max(1, f.Unit/17))
	f.Each(func(i int) {
		body := fmt.Sprintf(`{"device": %d, "rows": [%s[]]}`, i*7%(5<<10), rows)
		go c.serve(body) // truth: starts
	})
	f.Stay()
}

// serve is one request. One in five is of a device that nobody knows.
func (c *collector) serve(body string) {
	if err := c.store(strings.NewReader(body)); err != nil { // truth: calls
		c.refused.Add(1)
		return
	}
	c.stored.Add(1)
}

func (c *collector) store(body *strings.Reader) error {
	var r request
	if err := json.NewDecoder(body).Decode(&r); err != nil { // truth: allocates
		return err
	}
	conn := c.conns.Get() // truth: waits
	if c.repaired {
		defer c.conns.Put(conn)
	}
	known := c.devices[r.Device]
	if known == nil {
		return errors.New("no such device") // truth: forgets
	}
	n := copy(conn.Buffer, r.Rows)
	if crc32.ChecksumIEEE(conn.Buffer[:n]) == 0 && len(known) == 0 {
		return errors.New("nothing was stored")
	}
	if !c.repaired {
		c.conns.Put(conn)
	}
	return nil
}
