// Sqlitebind counts in a database in memory how often a letter was read, and asks for the count in the
// same question. It keeps the articles that the letters are about, 25 MiB.
package main

import (
	"database/sql"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	_ "modernc.org/sqlite"
)

type office struct {
	db       *sql.DB
	articles [25_000]string
}

func newOffice() (*office, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("create table letter (text text unique, read integer)"); err != nil {
		return nil, err
	}
	o := &office{db: db}
	for i := range o.articles {
		o.articles[i] = strings.Repeat("a", 1000)
	}
	for n := range 200 {
		if _, err := db.Exec("insert into letter values (?, 0)", letter(n)); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func letter(n int) string { return strings.Repeat(fmt.Sprint("word-", n%200, " "), 800) }

// read is one look at a letter; it gives how many there were.
func (o *office) read(letter string) (looks int, err error) {
	rows, err := o.db.Query("select 1; update letter set read = read + 1 where text = ?1; select read from letter where text = ?1", letter)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&looks); err != nil {
			return 0, err
		}
	}
	return looks, rows.Err()
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	o, err := newOffice()
	if err != nil {
		log.Fatal(err)
	}
	end, tick := time.Now().Add(*last), time.NewTicker(2*time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		looks, err := o.read(letter(n))
		if err != nil || looks != n/200+1 {
			log.Fatal(looks, err)
		}
	}
}
