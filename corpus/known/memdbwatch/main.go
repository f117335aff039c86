// Memdbwatch is a directory of services in an in-memory database of 25 MiB. Its readers wait for
// any of a hundred services to change; one changes all the time, the others hardly ever.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-memdb"
)

type service struct {
	Name, Address, Text string
}

func newDirectory() (*memdb.MemDB, error) {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		"service": {Name: "service", Indexes: map[string]*memdb.IndexSchema{
			"id": {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Name"}},
		}},
	}})
	if err != nil {
		return nil, err
	}
	txn := db.Txn(true)
	for i := range 30_000 {
		if err := txn.Insert("service", &service{fmt.Sprintf("service-%05d", i), "127.0.0.1", strings.Repeat("t", 500)}); err != nil {
			return nil, err
		}
	}
	txn.Commit()
	return db, nil
}

// changed waits until one of the first hundred services is another one.
func changed(ctx context.Context, db *memdb.MemDB) error {
	ws, txn := memdb.NewWatchSet(), db.Txn(false)
	for i := range 100 {
		watch, _, err := txn.FirstWatch("service", "id", fmt.Sprintf("service-%05d", 300*i))
		if err != nil {
			return err
		}
		ws.Add(watch)
	}
	return ws.WatchCtx(ctx)
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	db, err := newDirectory()
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	end := time.Now().Add(*last)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if err := changed(ctx, db); err != nil && ctx.Err() == nil {
					log.Print(err)
					return
				}
			}
		})
	}
	tick := time.NewTicker(8 * time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		txn := db.Txn(true)
		if err := txn.Insert("service", &service{"service-00000", fmt.Sprint("127.0.0.", n%256), ""}); err != nil {
			log.Fatal(err)
		}
		txn.Commit()
	}
	cancel()
	readers.Wait()
}
