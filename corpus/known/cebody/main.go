// Cebody is a shop that tells a sink of each order as a cloud event over HTTP. The sink answers with a
// few words. The shop keeps its orders, 25 MiB.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

type order struct {
	Number  int
	Article string
}

type shop struct {
	events cloudevents.Client
	orders [60_000]order
}

func newShop(sink string) (*shop, error) {
	protocol, err := cloudevents.NewHTTP(cloudevents.WithTarget(sink))
	if err != nil {
		return nil, err
	}
	c, err := cloudevents.NewClient(protocol, cloudevents.WithTimeNow(), cloudevents.WithUUIDs())
	if err != nil {
		return nil, err
	}
	s := &shop{events: c}
	for i := range s.orders {
		s.orders[i] = order{i, strings.Repeat("a", 400)}
	}
	return s, nil
}

func (s *shop) sell(ctx context.Context, n int) error {
	o := &s.orders[n%len(s.orders)]
	o.Number = n
	event := cloudevents.NewEvent()
	event.SetType("shop.order")
	event.SetSource("shop")
	if err := event.SetData(cloudevents.ApplicationJSON, o); err != nil {
		return err
	}
	if err := s.events.Send(ctx, event); cloudevents.IsUndelivered(err) {
		return err
	}
	return nil
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "thank you for", r.Header.Get("Ce-Id"))
	}))
	s, err := newShop("http://" + l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	end, tick := time.Now().Add(*last), time.NewTicker(8*time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		if err := s.sell(context.Background(), n); err != nil {
			log.Fatal(err)
		}
	}
}
