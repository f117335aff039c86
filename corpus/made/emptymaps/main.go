// Emptymaps follows the devices of customers: while a device is on line its state is in the
// map of its customer. Each customer has one hour of the day in which all his devices report,
// and nothing after it. The entries are deleted one by one then, and a map does not give its
// room back when it is empty: what is left are the maps of all who ever reported. Repaired, a
// map that is empty is dropped.
package main

import (
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// state of a device is stored in the map itself.
type state struct {
	battery, _ uint32
	seen       int64
	position   [2]float64
	_          [12]uint64
}

type deviceID [2]uint64

type customer struct {
	online map[deviceID]state
	plan   string
}

type fleet struct {
	customers map[int]*customer
	drop      bool
	reports   int
	alarms    int
	limits    []limit // 16 MiB
}

// limit is where a kind of device is to be, and what it may need.
type limit struct {
	_, high [2]float64
	_       [4]uint64
}

func newFleet(drop bool) *fleet {
	f := &fleet{customers: map[int]*customer{}, drop: drop}
	f.limits = make([]limit, 16<<20/64)
	for i := range f.limits {
		f.limits[i].high = [2]float64{float64(i), float64(i)}
	}
	return f
}

func (f *fleet) report(id int, device deviceID, s state) {
	c := f.customers[id]
	if c == nil {
		c = &customer{plan: "standard"}
		f.customers[id] = c
	}
	if c.online == nil {
		c.online = map[deviceID]state{}
	}
	c.online[device] = s // truth: grows
	f.reports++
	if s.position[0] > f.limits[f.reports%len(f.limits)].high[0] {
		f.alarms++
	}
}

// offline is called when a device's connection ends.
func (f *fleet) offline(id int, device deviceID) {
	c := f.customers[id]
	delete(c.online, device) // truth: deletes
	if f.drop && len(c.online) == 0 {
		c.online = nil
	}
}

// hour is that of one customer.
func (f *fleet) hour(id, devices int) {
	for n := range devices {
		f.report(id, deviceID{uint64(id), uint64(n)}, state{seen: int64(id), battery: uint32(n)})
	}
	for n := range devices {
		f.offline(id, deviceID{uint64(id), uint64(n)})
	}
}

func main() {
	f := frame.Parse()
	all := newFleet(f.Repaired)
	f.Each(func(i int) { all.hour(i, f.Unit/170) })
	f.Stay()
	log.Printf("%d reports of %d customers, %d alarms", all.reports, len(all.customers), all.alarms)
}
