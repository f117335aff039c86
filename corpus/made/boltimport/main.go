// Boltimport loads a price list into bbolt every few seconds, in one transaction,
// which has all of it in memory until it is committed. Repaired, it commits after
// each 500 prices.
package main

import (
	"encoding/binary"
	"log"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const priceBytes = 2 << 10

var bucket = []byte("prices")

type importer struct {
	db     *bolt.DB
	atOnce int               // prices of a transaction; 0: all
	seen   map[uint64]uint32 // of each article, when it changed
}

func main() {
	f := frame.Parse()
	file, err := os.CreateTemp(".", "prices-")
	if err != nil {
		log.Fatal(err)
	}
	db, err := bolt.Open(file.Name(), 0o600, &bolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bolt.FreelistMapType})
	if err != nil {
		log.Fatal(err)
	}
	os.Remove(file.Name())
	i := &importer{db: db, seen: map[uint64]uint32{}}
	if f.Repaired {
		i.atOnce = 500
	}
	for n := range uint64(400_000) {
		i.seen[n] = uint32(n)
	}
	for round := 0; !f.Over(); round++ {
		if err := i.load(int(f.Total/priceBytes), round, f.Over); err != nil {
			log.Fatal(err)
		}
		for next := time.Now().Add(2 * time.Second); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// load puts n prices, in parts.
func (i *importer) load(n, round int, over func() bool) error {
	part := i.atOnce
	if part == 0 {
		part = n
	}
	for from := 0; from < n && !over(); from += part {
		to := min(from+part, n)
		if err := i.db.Update(func(tx *bolt.Tx) error { return i.put(tx, from, to, round) }); err != nil { // truth: commits
			return err
		}
	}
	return nil
}

func (i *importer) put(tx *bolt.Tx, from, to, round int) error {
	prices, err := tx.CreateBucketIfNotExists(bucket)
	if err != nil {
		return err
	}
	for n := from; n < to; n++ {
		key := binary.BigEndian.AppendUint64(nil, uint64(n))
		if err := prices.Put(key, price(n, round)); err != nil { // truth: keeps
			return err
		}
		i.seen[uint64(n)] = uint32(round)
	}
	return nil
}

// price is what a supplier sends of an article.
func price(n, round int) []byte {
	p := frame.Touch(make([]byte, priceBytes-100)) // truth: allocates
	binary.BigEndian.PutUint32(p[8:], uint32(n*31+round))
	return p
}
