// Sqlitewal fills the write-ahead log of a database of SQLite, while a reader keeps it from being checkpointed.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	_ "modernc.org/sqlite"
)

func fill(dir string, mib int) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "orders.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	for _, statement := range []string{"CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)", "INSERT INTO t (b) VALUES (zeroblob(10))"} {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	rows, err := db.Query("SELECT id FROM t")
	if err != nil {
		return err
	}
	defer rows.Close()
	rows.Next()
	for range mib {
		if _, err := db.Exec("INSERT INTO t (b) VALUES (randomblob(1048576))"); err != nil {
			return err
		}
	}
	time.Sleep(time.Second)
	return rows.Err()
}

func main() {
	mib := 40
	if len(os.Args) > 2 {
		mib, _ = strconv.Atoi(os.Args[2])
	}
	if err := fill(os.Args[1], mib); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
