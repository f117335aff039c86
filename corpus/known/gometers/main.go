// Gometers is a broker of chat rooms: each room that opens has a meter of its messages in
// go-metrics, and takes it out of the registry when it closes. Rooms close soon. The broker keeps
// the users, 25 MiB.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/rcrowley/go-metrics"
)

type user struct {
	Name    string
	Friends []int
}

type broker struct {
	users    []*user
	registry metrics.Registry
	open     []string
}

func newBroker() *broker {
	b := &broker{registry: metrics.NewRegistry()}
	for i := range 50_000 {
		u := &user{Name: fmt.Sprintf("user %d", i)}
		for f := range 50 {
			u.Friends = append(u.Friends, i^f)
		}
		b.users = append(b.users, u)
	}
	return b
}

func (b *broker) openRoom(n int) {
	name := fmt.Sprintf("room.%d.messages", n)
	metrics.GetOrRegisterMeter(name, b.registry).Mark(1)
	b.open = append(b.open, name)
}

// closeOldest keeps at most 200 rooms open.
func (b *broker) closeOldest() {
	for len(b.open) > 200 {
		b.registry.Unregister(b.open[0])
		b.open = append(b.open[:0], b.open[1:]...)
	}
}

func (b *broker) message(n int) error {
	text, err := json.Marshal(b.users[n%len(b.users)])
	if err == nil && len(text) == 0 {
		log.Print("a message without text")
	}
	return err
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	b := newBroker()
	end := time.Now().Add(*last)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		for i := range 40 {
			b.openRoom(40*n + i)
		}
		b.closeOldest()
		if err := b.message(n); err != nil {
			log.Fatal(err)
		}
	}
}
