// Orderevents has orders that are made of their events. An event is saved as soon as
// its command is decided on, and stays in the order's list of changes all the same.
// Repaired, the list is empty after a save.
package main

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"log"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
	"github.com/highwater-go/highwater/corpus/made/orderevents/order"
)

// journal is the store: events are numbered and go to a disk.
type journal struct {
	page    bytes.Buffer
	written int64
	sum     uint32
}

func (j *journal) Append(number int, events []*order.Event) error {
	for _, e := range events {
		j.page.Reset()
		if err := json.NewEncoder(&j.page).Encode(e); err != nil {
			return err
		}
		j.written += int64(j.page.Len())
		j.sum = crc32.Update(j.sum, crc32.IEEETable, j.page.Bytes())
	}
	return nil
}

// view is what the shop shows: the lines of all orders of the day, 20 MiB.
type view struct {
	lines [][]byte
	drawn int
}

func (v *view) draw(o *order.Order) { v.drawn += copy(v.lines[o.Number%len(v.lines)], o.State) }

func main() {
	f := frame.Parse()
	v := &view{}
	for range 20 << 10 {
		v.lines = append(v.lines, frame.Touch(make([]byte, 1<<10)))
	}
	orders := &order.Repository{To: &journal{}, Commit: f.Repaired}
	note := strings.Repeat("please ring twice, ", max(1, f.Unit/19))
	f.Each(func(i int) {
		o := orders.Get(i * 7 % 240)
		if err := o.Handle(command(i, note)); err != nil {
			log.Fatal(err)
		}
		if err := orders.Save(o); err != nil {
			log.Fatal(err)
		}
		v.draw(o)
	})
	f.Stay()
}

func command(i int, note string) []byte {
	kind := []string{"pay", "pack", "send", "return"}[i/240%4]
	return []byte(`{"kind": "` + kind + `", "note": "` + note + `"}`)
}
