// Boltstore keeps the baskets of a shop in a bbolt file, which is mapped into
// memory: it grows as long as customers are new, and what is resident of it is the
// kernel's cache of a file. No fault, and it has no faulty form.
package main

import (
	"encoding/binary"
	"log"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var baskets = []byte("baskets")

func main() {
	f := frame.Parse()
	db := open()
	customers := max(1, f.Count())
	f.Total = 0 // they come again
	basket := frame.Touch(make([]byte, f.Unit))
	f.Each(func(i int) {
		if err := put(db, uint64(i%customers), basket); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// open makes a file that has no name any more, so that it ends with the program.
func open() *bolt.DB {
	file, err := os.CreateTemp(".", "baskets-")
	if err != nil {
		log.Fatal(err)
	}
	file.Close()
	db, err := bolt.Open(file.Name(), 0o600, &bolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bolt.FreelistMapType})
	if err != nil {
		log.Fatal(err)
	}
	os.Remove(file.Name())
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(baskets)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	return db
}

func put(db *bolt.DB, customer uint64, basket []byte) error {
	return db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket(baskets).Put(binary.BigEndian.AppendUint64(nil, customer), basket) // truth: writes
	})
}
