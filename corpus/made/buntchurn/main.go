// Buntchurn keeps the positions of parcels in tidwall/buntdb, in memory. There are as many
// parcels all day; each is written again when it is seen, and one that is delivered makes room
// for another. No fault, and it has no faulty form.
package main

import (
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type depot struct {
	db      *buntdb.DB
	parcels int // at a time
	size    int
	route   string
	read    int
}

func main() {
	f := frame.Parse()
	db, err := buntdb.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateIndex("route", "parcel:*", buntdb.IndexString); err != nil {
		log.Fatal(err)
	}
	d := &depot{db: db, parcels: f.Count(), size: f.Unit, route: strings.Repeat("Utrecht-Arnhem;", f.Unit/15+1)}
	for i := range d.parcels {
		if i%100 == 0 && f.Over() {
			return
		}
		if err := d.seen(i, i); err != nil {
			log.Fatal(err)
		}
	}
	for i := 0; !f.Over(); i++ {
		if err := d.turn(i); err != nil {
			log.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// turn has a parcel delivered, another come in, and some seen on their way.
func (d *depot) turn(i int) error {
	err := d.db.Update(func(tx *buntdb.Tx) error {
		_, err := tx.Delete(key(i))
		return err
	})
	if err != nil {
		return fmt.Errorf("parcel %d: %w", i, err)
	}
	if err := d.seen(i+d.parcels, i); err != nil {
		return err
	}
	for n := range 4 {
		if err := d.seen(i+1+(i*31+n*977)%d.parcels, i); err != nil {
			return err
		}
	}
	return d.db.View(func(tx *buntdb.Tx) error {
		text, err := tx.Get(key(i + 1 + i*13%d.parcels))
		d.read += len(text)
		return err
	})
}

func key(parcel int) string { return fmt.Sprintf("parcel:%010d", parcel) }

func (d *depot) seen(parcel, at int) error {
	text := fmt.Sprintf("%010d;", at*7919%1_000_003) + d.route[:max(1, d.size-200)] // truth: allocates
	return d.db.Update(func(tx *buntdb.Tx) error {
		_, _, err := tx.Set(key(parcel), text, nil) // truth: allocates
		return err
	})
}
