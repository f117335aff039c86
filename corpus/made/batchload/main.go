// Batchload loads rows, sorts them, writes them as JSON and ends. What it holds is
// what it was asked to load: no fault, and it has no faulty form.
package main

import (
	"encoding/json"
	"io"
	"log"
	"sort"
	"strconv"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type row struct {
	ID   int
	Name string
	Note []byte
}

func main() {
	f := frame.Parse()
	rows := loadRows(f)
	sort.Slice(rows, func(i, k int) bool { return rows[i].Name < rows[k].Name })
	out := json.NewEncoder(io.Discard)
	for _, r := range rows {
		if err := out.Encode(r); err != nil {
			log.Fatal(err)
		}
	}
}

func loadRows(f *frame.Frame) (rows []*row) {
	f.EachAtWork(func(i int) {
		note := frame.Touch(make([]byte, f.Unit))                                           // truth: allocates
		rows = append(rows, &row{ID: i, Name: strconv.Itoa(i * 7919 % 100003), Note: note}) // truth: keeps
	})
	return rows
}
