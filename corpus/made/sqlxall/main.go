// Sqlxall exports the orders of a shop every few seconds. It selects all of them into one
// slice by jmoiron/sqlx, and writes them then. Repaired, it scans one row after another.
package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"time"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// orderBytes is what an order takes in the slice.
const orderBytes = 1100

// orders makes the table up, row by row, so that it needs no room itself.
const orders = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
	SELECT i AS id, i % 997 AS customer, printf('%.*c', 1000, 'n') AS note FROM n`

type order struct {
	ID       int    `db:"id"`
	Customer int    `db:"customer"`
	Note     string `db:"note"`
}

type exporter struct {
	db        *sqlx.DB
	customers [][]byte // 12 MiB
	rows      int64
	repaired  bool
}

func main() {
	f := frame.Parse()
	db, err := sqlx.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	e := &exporter{db: db, rows: f.Total / orderBytes, repaired: f.Repaired}
	for range 12 << 20 / (12 << 10) {
		e.customers = append(e.customers, frame.Touch(make([]byte, 12<<10)))
	}
	for !f.Over() {
		if err := e.export(context.Background(), io.Discard); err != nil {
			log.Fatal(err)
		}
		for next := time.Now().Add(1500 * time.Millisecond); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func (e *exporter) export(ctx context.Context, to io.Writer) error {
	if e.repaired {
		return e.stream(ctx, to)
	}
	var all []order
	if err := e.db.SelectContext(ctx, &all, orders, e.rows); err != nil { // truth: allocates
		return err
	}
	for i := range all {
		if err := e.write(to, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) stream(ctx context.Context, to io.Writer) error {
	rows, err := e.db.QueryxContext(ctx, orders, e.rows)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o order
		if err := rows.StructScan(&o); err != nil {
			return err
		}
		if err := e.write(to, &o); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (e *exporter) write(to io.Writer, o *order) error {
	customer := e.customers[o.Customer%len(e.customers)]
	_, err := fmt.Fprintf(to, "%d\t%d\t%08x\t%s\n", o.ID, o.Customer, crc32.ChecksumIEEE(customer[:64]), o.Note)
	return err
}
