package recording

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// database is one connection to SQLite, without the pool of database/sql: a
// Writer and a Reader need one each, and rows are read without conversions.
type database struct {
	conn interface {
		driver.Conn
		driver.ExecerContext
		driver.QueryerContext
		driver.ConnPrepareContext
	}
	pool *sql.DB // of the one connection, where it has limits
}

// openDatabase opens a file with SQLite's own parameters (sqlite.org/uri.html)
// and the pragmas, in order.
func openDatabase(path, parameters string, pragmas ...string) (*database, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	c, err := new(sqlite.Driver).Open(name.String() + "?" + parameters)
	if err != nil {
		return nil, err
	}
	db := &database{conn: c.(interface {
		driver.Conn
		driver.ExecerContext
		driver.QueryerContext
		driver.ConnPrepareContext
	})}
	for _, p := range pragmas {
		if err := db.exec("PRAGMA " + p); err != nil {
			db.close()
			return nil, err
		}
	}
	return db, nil
}

func (db *database) close() error {
	if db.pool != nil {
		return db.pool.Close()
	}
	if db.conn == nil {
		return nil
	}
	return db.conn.Close()
}

func (db *database) exec(sql string, args ...driver.Value) error {
	_, err := db.conn.ExecContext(background, sql, named(nil, args))
	return err
}

func (db *database) prepare(sql string) (driver.StmtExecContext, error) {
	st, err := db.conn.PrepareContext(background, sql)
	if err != nil {
		return nil, err
	}
	return st.(driver.StmtExecContext), nil
}

// query hands each row to the function; the row is valid during the call only.
// A function that returns errStop ends the query without an error.
func (db *database) query(each func(row []driver.Value) error, sql string, args ...driver.Value) error {
	c, err := db.open(sql, args...)
	if err != nil {
		return err
	}
	defer c.close()
	for {
		row, err := c.next()
		if row == nil || err != nil {
			return err
		}
		if err := each(row); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

var errStop = errors.New("stop")

// cursor is a query in progress.
type cursor struct {
	rows driver.Rows
	row  []driver.Value
}

func (db *database) open(sql string, args ...driver.Value) (*cursor, error) {
	rows, err := db.conn.QueryContext(background, sql, named(nil, args))
	if err != nil {
		return nil, err
	}
	return &cursor{rows, make([]driver.Value, len(rows.Columns()))}, nil
}

// next is the next row, valid until the call after; nil at the end.
func (c *cursor) next() ([]driver.Value, error) {
	if err := c.rows.Next(c.row); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return c.row, nil
}

// close ends the query. An error of it was an error of next before.
func (c *cursor) close() { _ = c.rows.Close() }

// integer is the single number that a query answers with.
func (db *database) integer(sql string, args ...driver.Value) (n int64, err error) {
	found := false
	err = db.query(func(row []driver.Value) error {
		n, found = row[0].(int64)
		return errStop
	}, sql, args...)
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", sql, ErrMissing)
	}
	return n, err
}

// background is for statements that nobody interrupts.
var background = context.Background()

// named numbers the arguments, reusing the slice.
func named(dst []driver.NamedValue, args []driver.Value) []driver.NamedValue {
	dst = dst[:0]
	for i, v := range args {
		dst = append(dst, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return dst
}

// code is SQLite's result code of an error, without the extended part; 0 if the
// error is none of SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// damaged says that a page could not be read or makes no sense.
func damaged(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR:
		return true
	case sqlite3.SQLITE_ERROR:
		// A table of the schema, whose first page is cut off. check has seen its name.
		return strings.Contains(err.Error(), "no such table: ")
	}
	return false
}

// busy says that another connection is in the way.
func busy(err error) bool { return code(err) == sqlite3.SQLITE_BUSY }
