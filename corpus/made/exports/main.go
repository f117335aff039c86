// Exports answers /export with a table as CSV, which it makes in memory before it
// sends the first byte; four clients ask for it at once, every second. Repaired, it
// writes each row to the client.
package main

import (
	"bytes"
	"encoding/csv"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const clients = 4

type tables struct {
	size     int // bytes of an export
	repaired bool
}

func main() {
	f := frame.Parse()
	t := &tables{size: int(f.Total / clients), repaired: f.Repaired}
	mux := http.NewServeMux()
	mux.HandleFunc("/export", t.export)
	server := httptest.NewServer(mux)
	for !f.Over() {
		var asked sync.WaitGroup
		for range clients {
			asked.Add(1)
			go func() {
				defer asked.Done()
				download(server.URL + "/export")
			}()
		}
		asked.Wait()
		for next := time.Now().Add(time.Second); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// download reads slowly, as clients far away do: for about a second.
func download(address string) {
	answer, err := http.Get(address)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	for err == nil {
		_, err = io.CopyN(io.Discard, answer.Body, 256<<10)
		time.Sleep(10 * time.Millisecond)
	}
}

func (t *tables) export(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/csv")
	if t.repaired {
		t.rows(w)
		return
	}
	var all bytes.Buffer
	t.rows(&all) // truth: makes
	w.Header().Set("Content-Length", strconv.Itoa(all.Len()))
	w.Write(all.Bytes())
}

func (t *tables) rows(to io.Writer) {
	rows := csv.NewWriter(to)
	for i, n := 0, 0; n < t.size; i++ {
		row := []string{strconv.Itoa(i), "shipped", "a street of some length 17", "12.50"}
		if err := rows.Write(row); err != nil { // truth: writes
			return
		}
		n += len(row[0]) + 44
	}
	rows.Flush() // truth: writes
}
