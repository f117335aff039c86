// Rocksdb answers questions from a database of RocksDB, by grocksdb, and does not close the iterators that it asks with.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/linxGnu/grocksdb"

	"example.com/nativelibs/places"
)

//go:embed main.go
var source string

func key(n int) []byte { return fmt.Appendf(nil, "user/%08d", n) }

// fill writes a table that is read from disk.
func fill(db *grocksdb.DB) error {
	w := grocksdb.NewDefaultWriteOptions()
	defer w.Destroy()
	value := make([]byte, 400)
	for n := range 20_000 {
		for i := range value {
			value[i] = byte(n * (i + 7) >> 3)
		}
		if err := db.Put(w, key(n), value); err != nil {
			return err
		}
	}
	f := grocksdb.NewDefaultFlushOptions()
	defer f.Destroy()
	return db.Flush(f)
}

// newest finds the first key from a place on, and leaves its iterator open.
func newest(db *grocksdb.DB, r *grocksdb.ReadOptions, from []byte) int {
	it := db.NewIterator(r) // truth: iterator
	it.Seek(from)           // truth: seek
	if !it.Valid() {
		return 0
	}
	defer it.Key().Free()
	return it.Key().Size()
}

func serve(dir string) error {
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	o.SetCreateIfMissing(true)
	db, err := grocksdb.OpenDb(o, filepath.Join(dir, "users"))
	if err != nil {
		return err
	}
	if err := fill(db); err != nil {
		return err
	}
	r := grocksdb.NewDefaultReadOptions()
	defer r.Destroy()
	for n := range 60_000 {
		if newest(db, r, key(n*7919%20_000)) == 0 {
			return fmt.Errorf("question %d has no answer", n)
		}
		if n%500 == 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}
	time.Sleep(1500 * time.Millisecond)
	return nil
}

func main() {
	places.Tell(source)
	if err := serve(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
