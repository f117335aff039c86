// Bigjson imports a file of orders every half second: it reads the file and
// unmarshals all of it before it looks at the first order. Repaired, it decodes one
// order after another.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type sums map[string]float64

func main() {
	f := frame.Parse()
	name := export(f.Total)
	defer os.Remove(name)
	read := importAll
	if f.Repaired {
		read = importEach
	}
	for !f.Over() {
		total := sums{}
		if err := read(name, total); err != nil || len(total) == 0 {
			log.Fatal("import: ", err)
		}
		for next := time.Now().Add(500 * time.Millisecond); !f.Over() && time.Now().Before(next); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// export writes a file of size bytes.
func export(size int64) string {
	file, err := os.CreateTemp(".", "orders-")
	if err != nil {
		log.Fatal(err)
	}
	w, n := bufio.NewWriter(file), 1
	w.WriteString("[")
	for i := 0; int64(n) < size; i++ {
		m, _ := fmt.Fprintf(w, `{"number":%d,"customer":"c-%d","total":%d.5,"note":"leave it at the door"},`+"\n", i, i%500, i%90)
		n += m
	}
	w.WriteString(`{"customer":"c-1","total":1}]`)
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	file.Close()
	return file.Name()
}

func (s sums) add(order map[string]any) {
	customer, _ := order["customer"].(string)
	total, _ := order["total"].(float64)
	s[customer] += total
}

func importAll(name string, s sums) error {
	text, err := os.ReadFile(name) // truth: reads
	if err != nil {
		return err
	}
	var orders []map[string]any
	if err := json.Unmarshal(text, &orders); err != nil { // truth: allocates
		return err
	}
	for _, o := range orders {
		s.add(o)
	}
	return nil
}

func importEach(name string, s sums) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	d := json.NewDecoder(bufio.NewReader(file))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		var order map[string]any
		if err := d.Decode(&order); err != nil {
			return err
		}
		s.add(order)
	}
	return nil
}
