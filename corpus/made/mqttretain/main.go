// Mqttretain runs a broker of mochi-mqtt and tells the state of each parcel on a
// topic of its own. The messages are retained, so that the broker keeps the last one
// of every parcel there ever was. Repaired, a parcel that is delivered is told off
// with an empty one.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// onTheWay is how many parcels are, at a time.
const onTheWay = 300

type parcel struct {
	Number int      `json:"number"`
	State  string   `json:"state"`
	Steps  []string `json:"steps"`
}

type depot struct {
	broker   *mqtt.Server
	steps    []string
	heard    int
	streets  []string // 20 MiB: where parcels go to
	repaired bool
}

func main() {
	f := frame.Parse()
	d := &depot{repaired: f.Repaired, broker: mqtt.New(&mqtt.Options{
		InlineClient: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})}
	for i := range 80_000 {
		d.streets = append(d.streets, strings.Repeat(fmt.Sprintf("%d Long Lane, ", i), 256/(len(fmt.Sprint(i))+12)))
	}
	for n := 0; n < f.Unit; n += 50 {
		d.steps = append(d.steps, fmt.Sprintf("scanned at hub %06d, on belt %04d, sorted", n, n%1000))
	}
	if err := d.open(); err != nil {
		log.Fatal(err)
	}
	f.Each(func(i int) {
		if err := d.report(i); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

func (d *depot) open() error {
	if err := d.broker.AddHook(new(auth.AllowHook), nil); err != nil {
		return err
	}
	if err := d.broker.Subscribe("parcels/+/state", 1, d.listen); err != nil {
		return err
	}
	return d.broker.Serve()
}

// listen is the screen in the hall.
func (d *depot) listen(_ *mqtt.Client, _ packets.Subscription, p packets.Packet) {
	d.heard += len(p.Payload)
}

func topic(number int) string { return fmt.Sprintf("parcels/%d/state", number) }

// report tells that a parcel came in, and that an earlier one is delivered.
func (d *depot) report(number int) error {
	message, err := json.Marshal(parcel{number, "to " + d.streets[number%len(d.streets)], d.steps}) // truth: allocates
	if err != nil {
		return err
	}
	if err := d.broker.Publish(topic(number), message, true, 0); err != nil { // truth: keeps
		return err
	}
	if number < onTheWay {
		return nil
	}
	if d.repaired {
		return d.broker.Publish(topic(number-onTheWay), nil, true, 0)
	}
	return d.broker.Publish(topic(number-onTheWay), []byte(`{"state": "delivered"}`), false, 0)
}
