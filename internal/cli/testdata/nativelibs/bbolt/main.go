// Bbolt fills a database of 300 MiB, which the library maps, and reads all of it.
package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

func fill(dir string) error {
	db, err := bolt.Open(filepath.Join(dir, "state.bolt"), 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		return err
	}
	value := make([]byte, 64<<10)
	for round := range 48 {
		err := db.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("orders"))
			for n := 0; err == nil && n < 100; n++ {
				_, _ = rand.Read(value)
				err = b.Put(binary.BigEndian.AppendUint64(nil, uint64(round*100+n)), value)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	sum := 0
	err = db.View(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("orders")).ForEach(func(_, v []byte) error {
			for i := 0; i < len(v); i += 4096 {
				sum += int(v[i])
			}
			return nil
		})
	})
	time.Sleep(1500 * time.Millisecond)
	return err
}

func main() {
	if err := fill(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
