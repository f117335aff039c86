// Duckdb collects events in a table in memory, by duckdb-go, with the memory_limit of a larger
// machine.
package main

import (
	"database/sql"
	_ "embed"
	"fmt"
	"os"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"example.com/nativelibs/places"
)

//go:embed main.go
var source string

func collect() error {
	db, err := sql.Open("duckdb", "?memory_limit=4GB&threads=2")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE events (id BIGINT, name VARCHAR, v DOUBLE)"); err != nil {
		return err
	}
	const insert = "INSERT INTO events SELECT i, 'event ' || md5(i::VARCHAR), random() FROM range(?, ?) t(i)"
	for n := range 400 {
		if _, err := db.Exec(insert, n*20_000, (n+1)*20_000); err != nil { // truth: insert
			return err
		}
	}
	time.Sleep(1500 * time.Millisecond)
	return nil
}

func main() {
	places.Tell(source)
	if err := collect(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
