// Slowdb takes orders and writes each to a database, over four connections. In the first
// part of its time the database is slow, and orders wait for a connection, each with what
// the customer sent; nobody is told to come later. Repaired, an order is taken when there
// are less than 16.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const connections = 4

// database answers each statement after a while.
type database struct{ needs time.Duration }

func (d *database) Connect(context.Context) (driver.Conn, error) { return &conn{d}, nil }
func (d *database) Driver() driver.Driver                        { return nil }

type conn struct{ of *database }

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not supported") }
func (c *conn) Close() error                        { return nil }
func (c *conn) Begin() (driver.Tx, error)           { return nil, errors.New("not supported") }

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(c.of.needs):
		return driver.RowsAffected(1), nil
	}
}

type order struct {
	number int
	form   []byte
}

type desk struct {
	db     *sql.DB
	open   sync.WaitGroup
	room   chan struct{} // nil: no bound
	prices [][]byte      // 16 MiB
}

// take is called for each request, as the server does it.
func (d *desk) take(i, size int) {
	if d.room != nil {
		d.room <- struct{}{}
	}
	d.open.Add(1)
	go d.order(i, size) // truth: starts
}

func (d *desk) order(i, size int) {
	defer d.open.Done()
	if d.room != nil {
		defer func() { <-d.room }()
	}
	o := &order{number: i, form: frame.Touch(make([]byte, size))} // truth: allocates
	if err := d.save(context.Background(), o); err != nil {
		log.Print(err)
	}
}

func (d *desk) save(ctx context.Context, o *order) error {
	_, err := d.db.ExecContext(ctx, "INSERT INTO orders VALUES (?, ?)", o.number, o.form) // truth: waits
	return err
}

func main() {
	f := frame.Parse()
	long := f.For
	f.Total = 0
	if long == 0 {
		long = 20 * time.Second
	}
	// Orders come for two fifths of the time, twice as fast as the database takes them.
	needs := 2 * connections * time.Duration(float64(f.Unit)/float64(max(f.Rate, 1))*float64(time.Second))
	db := &database{needs: needs}
	d := &desk{db: sql.OpenDB(db)}
	d.db.SetMaxOpenConns(connections)
	d.db.SetMaxIdleConns(connections)
	if f.Repaired {
		d.room = make(chan struct{}, 16)
	}
	for range 16 << 6 {
		d.prices = append(d.prices, frame.Touch(make([]byte, 16<<10)))
	}
	began := time.Now()
	for t, i := f.Turns(), 0; time.Since(began) < long*2/5 && t.Next(); i++ {
		d.take(i, f.Unit)
	}
	d.open.Wait()
	f.Stay()
}
