// Sqlaudit writes what was changed by whom into a table of SQLite, in a database in
// memory that was meant for tests. Its pages are mapped by the driver, outside of Go's
// heap, and no row is ever deleted. Repaired, the newest 400 are kept.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"

	_ "modernc.org/sqlite"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type change struct {
	user, table string
	before      []byte
}

type trail struct {
	db     *sql.DB
	insert *sql.Stmt
	keep   int // rows; 0: all
}

func open(keep int) (*trail, error) {
	db, err := sql.Open("sqlite", "file::memory:?cache=shared") // truth: maps
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE audit (id INTEGER PRIMARY KEY, user TEXT, tab TEXT, before BLOB)`); err != nil {
		return nil, err
	}
	insert, err := db.Prepare(`INSERT INTO audit (id, user, tab, before) VALUES (?, ?, ?, ?)`)
	return &trail{db: db, insert: insert, keep: keep}, err
}

func (t *trail) record(ctx context.Context, id int, c *change) error {
	if _, err := t.insert.ExecContext(ctx, id, c.user, c.table, c.before); err != nil { // truth: maps
		return err
	}
	if t.keep == 0 {
		return nil
	}
	_, err := t.db.ExecContext(ctx, `DELETE FROM audit WHERE id <= ?`, id-t.keep)
	return err
}

// rights are 16 MiB: who may do what, asked for each change.
type rights map[string][]byte

func loadRights() rights {
	r := rights{}
	for i := range 16 << 20 / (8 << 10) {
		r[fmt.Sprintf("user-%05d", i)] = frame.Touch(make([]byte, 8<<10))
	}
	return r
}

func main() {
	f := frame.Parse()
	keep := 0
	if f.Repaired {
		keep = 400
	}
	t, err := open(keep)
	if err != nil {
		log.Fatal(err)
	}
	allowed, before := loadRights(), frame.Touch(make([]byte, f.Unit))
	refused := 0
	f.Each(func(i int) {
		c := &change{user: fmt.Sprintf("user-%05d", i%2048), table: "orders", before: before}
		if allowed[c.user] == nil {
			refused++
			return
		}
		if err := t.record(context.Background(), i+1, c); err != nil {
			log.Fatal(err)
		}
	})
	if refused > 0 {
		log.Printf("%d changes were refused", refused)
	}
	f.Stay()
}
