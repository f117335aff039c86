// Encoders compresses the clicks of each tenant with an encoder of its own, which
// it keeps for the tenant's next ones; new tenants come all the time and most do
// not come again. Repaired, the least recently used of 4 is closed and dropped.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// perTenant is about what an encoder of this program takes, in bytes.
const perTenant = 3 << 19

type archive struct {
	encoders map[string]*zstd.Encoder
	recent   *lru.Cache[string, *zstd.Encoder] // nil: all are kept
	written  counter
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func main() {
	f := frame.Parse()
	a := &archive{encoders: map[string]*zstd.Encoder{}}
	if f.Repaired {
		a.recent, _ = lru.NewWithEvict(4, func(tenant string, e *zstd.Encoder) {
			e.Close()
			delete(a.encoders, tenant)
		})
	}
	events, tenants := clicks(1<<20), 0
	f.Each(func(i int) {
		for ; int64(tenants)*perTenant < int64(i+1)*int64(f.Unit); tenants++ {
			a.store(fmt.Sprint("tenant-", tenants), events)
		}
	})
	f.Stay()
}

// clicks are events of size bytes in all.
func clicks(size int) []byte {
	var b bytes.Buffer
	for i := uint64(1); b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"kind":"click","user":%d,"at":%d}`, i*0x9E3779B97F4A7C15>>20, 1732365000+i)
	}
	return b.Bytes()
}

func (a *archive) store(tenant string, events []byte) {
	e := a.encoder(tenant)
	e.Reset(&a.written)                                            // truth: allocates
	if _, err := io.Copy(e, bytes.NewReader(events)); err != nil { // truth: allocates
		log.Fatal(err)
	}
	if err := e.Close(); err != nil { // truth: allocates
		log.Fatal(err)
	}
}

func (a *archive) encoder(tenant string) *zstd.Encoder {
	e := a.encoders[tenant]
	if e == nil {
		var err error
		if e, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10)); err != nil { // truth: allocates
			log.Fatal(err)
		}
		a.encoders[tenant] = e // truth: keeps
	}
	if a.recent != nil {
		a.recent.Add(tenant, e)
	}
	return e
}
