// Rowsopen is a nightly check of orders that looks each one up in a database. Where an order
// has a row it goes on to the next, and does not close the result: its connection is not
// given back, and the pool, which has no bound, opens another one with buffers of its own.
// Repaired, the result is closed.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var errNotSupported = errors.New("not supported")

// database is the driver; conn and rows are its.
type database struct{ packet int }

func (d *database) Connect(context.Context) (driver.Conn, error) { return newConn(d.packet), nil }
func (d *database) Driver() driver.Driver                        { return nil }

// conn has room for what it sends and what it gets.
type conn struct {
	in, out []byte
	broken  bool
}

func newConn(packet int) *conn {
	return &conn{
		in:  frame.Touch(make([]byte, packet*7/8)), // truth: allocates
		out: frame.Touch(make([]byte, packet/8)),   // truth: allocates
	}
}

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errNotSupported }
func (c *conn) Begin() (driver.Tx, error)           { return nil, errNotSupported }
func (c *conn) Close() error                        { c.broken = true; return nil }

func (c *conn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.broken {
		return nil, driver.ErrBadConn
	}
	copy(c.out, query)
	return &rows{left: 3, number: args[0].Value.(int64)}, nil
}

type rows struct {
	left   int
	number int64
}

func (r *rows) Columns() []string { return []string{"number", "state"} }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(to []driver.Value) error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	to[0], to[1] = r.number, "shipped"
	return nil
}

type order struct {
	number  int64
	goods   [6]int64
	address string
}

// checker has the orders of the day, 18 MiB of them.
type checker struct {
	db      *sql.DB
	orders  []*order
	closes  bool
	missing int
}

func newChecker(db *sql.DB, closes bool) *checker {
	c := &checker{db: db, closes: closes}
	for i := range 180_000 {
		c.orders = append(c.orders, &order{number: int64(i), goods: [6]int64{int64(i)}, address: "a street, a town"})
	}
	return c
}

func (c *checker) there(ctx context.Context, o *order) (bool, error) {
	found, err := c.db.QueryContext(ctx, "SELECT number, state FROM orders WHERE number = ?", o.number) // truth: opens
	if err != nil {
		return false, err
	}
	if c.closes {
		defer found.Close()
	}
	for found.Next() {
		var number int64
		var state string
		if err := found.Scan(&number, &state); err != nil {
			return false, err
		}
		if number == o.number && state != "" {
			return true, nil // truth: returns
		}
	}
	return false, found.Err()
}

func main() {
	f := frame.Parse()
	c := newChecker(sql.OpenDB(&database{f.Unit}), f.Repaired)
	f.Each(func(i int) {
		ok, err := c.there(context.Background(), c.orders[i%len(c.orders)])
		if err != nil {
			log.Fatal(err)
		}
		if !ok {
			c.missing++
		}
	})
	f.Stay()
	log.Printf("%d missing, %d connections open", c.missing, c.db.Stats().OpenConnections)
}
