// Sqlite has SQLite, by cgo, take native memory in one of three ways: statements that nobody closes, a database in
// memory, or a page cache that is larger than what it is a cache of.
package main

import (
	"database/sql"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"example.com/nativelibs/places"
)

//go:embed main.go
var source string

// statements keeps a statement for each question that is asked, and closes none.
func statements(string) error {
	db, err := open("file::memory:?cache=shared")
	if err != nil {
		return err
	}
	if _, err := db.Exec("CREATE TABLE t (a INTEGER, b TEXT)"); err != nil {
		return err
	}
	var kept []*sql.Stmt
	for n := range 30_000 {
		s, err := db.Prepare(fmt.Sprintf("SELECT a, b FROM t WHERE a = %d AND b LIKE 'x%d%%' ORDER BY a", n, n)) // truth: statements
		if err != nil {
			return err
		}
		kept = append(kept, s)
	}
	linger()
	return kept[0].Close()
}

// memory fills a database that no file has.
func memory(string) error {
	db, err := open(":memory:")
	if err != nil {
		return err
	}
	if _, err := db.Exec("CREATE TABLE t (a INTEGER, b BLOB)"); err != nil {
		return err
	}
	for n := range 80_000 {
		if _, err := db.Exec("INSERT INTO t VALUES (?, randomblob(1000))", n); err != nil { // truth: memory
			return err
		}
	}
	linger()
	return nil
}

// cache reads a table through a page cache of 400 MB.
func cache(dir string) error {
	db, err := open("file:" + filepath.Join(dir, "cache.db") + "?_synchronous=OFF&_cache_size=-2000")
	if err != nil {
		return err
	}
	if _, err := db.Exec("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)"); err != nil {
		return err
	}
	if _, err := db.Exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90000) INSERT INTO t SELECT i, randomblob(1000) FROM n"); err != nil { // truth: filled
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	if db, err = open("file:" + filepath.Join(dir, "cache.db") + "?_cache_size=-400000"); err != nil {
		return err
	}
	for n := range 90_000 {
		var b []byte
		if err := db.QueryRow("SELECT b FROM t WHERE a = ?", n+1).Scan(&b); err != nil { // truth: cache
			return err
		}
	}
	linger()
	return nil
}

// open opens a database that has one connection.
func open(name string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", name)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func linger() { time.Sleep(1500 * time.Millisecond) }

func main() {
	places.Tell(source)
	err := map[string]func(string) error{"statements": statements, "memory": memory, "cache": cache}[os.Args[1]](os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
