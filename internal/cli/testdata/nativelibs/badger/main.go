// Badger fills a database whose value logs and memtables are mapped.
package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	badger "github.com/dgraph-io/badger/v4"
)

func fill(dir string) error {
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithSyncWrites(false).WithValueThreshold(1 << 10))
	if err != nil {
		return err
	}
	value := make([]byte, 64<<10)
	for n := range 3200 {
		_, _ = rand.Read(value)
		err := db.Update(func(tx *badger.Txn) error { return tx.Set(binary.BigEndian.AppendUint64(nil, uint64(n)), value) })
		if err != nil {
			return err
		}
	}
	time.Sleep(1500 * time.Millisecond)
	return db.Close()
}

func main() {
	if err := fill(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
