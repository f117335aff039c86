// Csvjob reads rows of a table, sums them by customer, writes the sums and ends. It
// grows as long as new customers come, and that is its work: no fault. It has no
// faulty form.
package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"log"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type customer struct {
	Name   string
	Rows   int
	Cents  int64
	Months [12]int64
}

type ledger map[string]*customer

func main() {
	f := frame.Parse()
	l := ledger{}
	f.EachAtWork(func(i int) {
		if err := l.read(strings.NewReader(page(i, f.Unit/300))); err != nil {
			log.Fatal(err)
		}
	})
	if err := json.NewEncoder(io.Discard).Encode(l); err != nil {
		log.Fatal(err)
	}
}

// page is n rows of customers that were not there before, and one that was.
func page(i, n int) string {
	var b strings.Builder
	b.WriteString("customer-0;7;1250\n")
	for k := range n {
		b.WriteString("customer-" + strconv.Itoa(i*n+k+1) + ";" + strconv.Itoa(k%12) + ";1999\n")
	}
	return b.String()
}

func (l ledger) read(from io.Reader) error {
	rows := csv.NewReader(from)
	rows.Comma, rows.ReuseRecord = ';', true
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		l.add(row)
	}
}

func (l ledger) add(row []string) {
	c := l[row[0]]
	if c == nil {
		c = &customer{Name: strings.Clone(row[0])} // truth: allocates
		l[c.Name] = c
	}
	month, _ := strconv.Atoi(row[1])
	cents, _ := strconv.ParseInt(row[2], 10, 64)
	c.Rows++
	c.Cents += cents
	c.Months[month%12] += cents
}
