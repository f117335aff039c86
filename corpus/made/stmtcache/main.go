// Stmtcache looks up the stock of the articles in a basket. Its statements are made by squirrel
// and prepared once each: squirrel's cache keeps a statement by its text. The numbers of the
// articles are written into the text, so that nearly each basket has a statement of its own.
// Repaired, the text has placeholders, a multiple of 256 of them.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	sq "github.com/Masterminds/squirrel"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var errNotSupported = errors.New("not supported")

// database is the driver.
type database struct{}

func (database) Connect(context.Context) (driver.Conn, error) { return conn{}, nil }
func (database) Driver() driver.Driver                        { return nil }

type conn struct{}

func (conn) Begin() (driver.Tx, error) { return nil, errNotSupported }
func (conn) Close() error              { return nil }

// Prepare makes a plan, which has a node for each value of the text.
func (conn) Prepare(query string) (driver.Stmt, error) {
	s := &stmt{plan: make([]node, 0, strings.Count(query, ",")+1)} // truth: plans
	for range cap(s.plan) {
		s.plan = append(s.plan, node{op: 1, cost: 2})
	}
	return s, nil
}

type node struct{ op, cost int32 }

type stmt struct{ plan []node }

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return -1 }

func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, errNotSupported }
func (s *stmt) Query([]driver.Value) (driver.Rows, error) {
	return &rows{left: min(len(s.plan), 20)}, nil
}

type rows struct{ left int }

func (r *rows) Columns() []string { return []string{"article", "pieces"} }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(to []driver.Value) error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	to[0], to[1] = int64(r.left), int64(r.left%7)
	return nil
}

// shop has 13 MiB of articles.
type shop struct {
	cache    *sq.StmtCache
	holders  bool
	articles map[int64]*article
	found    int
}

type article struct {
	name  string
	price [24]int64
}

func newShop(db *sql.DB, holders bool) *shop {
	s := &shop{cache: sq.NewStmtCache(db), holders: holders, articles: map[int64]*article{}}
	for i := range 56_000 {
		s.articles[int64(i)] = &article{fmt.Sprintf("article number %d", i), [24]int64{int64(i)}}
	}
	return s
}

// among is the condition that an article is one of wanted.
func (s *shop) among(wanted []int64) sq.Sqlizer {
	if s.holders {
		for len(wanted)%256 != 0 {
			wanted = append(wanted, wanted[0])
		}
		return sq.Eq{"article": wanted}
	}
	var list strings.Builder
	for i, id := range wanted {
		if i > 0 {
			list.WriteByte(',')
		}
		fmt.Fprint(&list, id)
	}
	return sq.Expr("article IN (" + list.String() + ")") // truth: text
}

func (s *shop) stock(wanted []int64) error {
	q := sq.Select("article", "pieces").From("stock").Where(s.among(wanted))
	found, err := q.RunWith(s.cache).Query() // truth: keeps
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var id, pieces int64
		if err := found.Scan(&id, &pieces); err != nil {
			return err
		}
		if s.articles[id] != nil && pieces > 0 {
			s.found++
		}
	}
	return found.Err()
}

func main() {
	f := frame.Parse()
	db := sql.OpenDB(database{})
	db.SetMaxOpenConns(1)
	s := newShop(db, f.Repaired)
	f.Each(func(i int) {
		wanted := make([]int64, 0, f.Unit/16+256)
		for n := range f.Unit/16 + 1 {
			wanted = append(wanted, int64(1_000_000+(i*7919+n*31)%8_000_000))
		}
		if err := s.stock(wanted); err != nil {
			log.Fatal(err)
		}
	})
	f.Stay()
	log.Printf("%d found", s.found)
}
