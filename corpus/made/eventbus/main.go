// Eventbus passes events between the parts of a shop by a channel of watermill. It was
// set to be persistent, so that who joins late misses nothing, and holds all events
// there ever were. Repaired, it is not.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type line struct {
	Article string `json:"article"`
	Count   int    `json:"count"`
	Cents   int    `json:"cents"`
}

type checkout struct {
	Order int    `json:"order"`
	Lines []line `json:"lines"`
}

type shop struct {
	bus    *gochannel.GoChannel
	basket []line
	stock  map[string]int // 12 MiB
	packed atomic.Int64
}

func main() {
	f := frame.Parse()
	s := &shop{stock: map[string]int{}, bus: gochannel.NewGoChannel(gochannel.Config{
		OutputChannelBuffer: 64, Persistent: !f.Repaired, // truth: sets
	}, watermill.NopLogger{})}
	for i := range 100_000 {
		s.stock[fmt.Sprintf("a chair of oak, in colour %d", i)] = i % 90
	}
	for n := 0; n < f.Unit; n += 64 {
		s.basket = append(s.basket, line{fmt.Sprintf("a chair of oak, in colour %d", n), 1 + n%3, 4999})
	}
	orders, err := s.bus.Subscribe(context.Background(), "checkouts")
	if err != nil {
		log.Fatal(err)
	}
	go s.pack(orders)
	f.Each(func(i int) {
		if err := s.order(i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (s *shop) order(number int) error {
	text, err := json.Marshal(checkout{number, s.basket}) // truth: allocates
	if err != nil {
		return err
	}
	return s.bus.Publish("checkouts", message.NewMessage(watermill.NewUUID(), text)) // truth: keeps
}

// pack is the warehouse.
func (s *shop) pack(orders <-chan *message.Message) {
	for m := range orders {
		s.packed.Add(int64(len(m.Payload)))
		m.Ack()
	}
}
