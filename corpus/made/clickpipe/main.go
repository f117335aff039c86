// Clickpipe counts clicks in Redis (a small one in the same process) by a pipeline of
// go-redis, which is sent when it has exactly a hundred commands. A click had two of
// them once, and has three now: the hundred is never met again, and what waits in the
// pipeline is never sent. Repaired, it is sent from a hundred on.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// full is how many commands are sent at once.
const full = 100

type counter struct {
	pipe      redis.Pipeliner
	campaigns map[string][]byte // 13 MiB: what may be clicked at
	repaired  bool
	sent      int
}

func main() {
	f := frame.Parse()
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	c := &counter{pipe: client.Pipeline(), campaigns: map[string][]byte{}, repaired: f.Repaired}
	for i := range 13 << 20 / (8 << 10) {
		c.campaigns[fmt.Sprintf("campaign-%d", i)] = frame.Touch(make([]byte, 8<<10))
	}
	f.Each(func(i int) {
		if err := c.click(context.Background(), i, page(i, f.Unit)); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// page is the state of the page at a click, as the browser sends it.
func page(i, size int) []byte {
	p := frame.Touch(make([]byte, max(size, 8))) // truth: allocates
	p[0] = byte(i)
	return p
}

func (c *counter) click(ctx context.Context, i int, page []byte) error {
	campaign := fmt.Sprintf("campaign-%d", i*31%len(c.campaigns))
	if c.campaigns[campaign] == nil {
		return fmt.Errorf("no %s", campaign)
	}
	c.pipe.Incr(ctx, "clicks:"+campaign)
	c.pipe.Set(ctx, fmt.Sprintf("last:%d", i%32), page, time.Hour) // truth: keeps
	c.pipe.PFAdd(ctx, "visitors:"+campaign, i%5000)
	if c.pipe.Len() == full || c.repaired && c.pipe.Len() > full {
		return c.flush(ctx)
	}
	return nil
}

func (c *counter) flush(ctx context.Context) error {
	answers, err := c.pipe.Exec(ctx)
	c.sent += len(answers)
	return err
}
