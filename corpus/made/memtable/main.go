// Memtable takes measurements and keeps them in memory until there are so many that a file is
// worth it; then they are sorted and written, and the table begins again. Its memory is a saw, and
// the limit has room for its teeth. No fault, and it has no faulty form.
package main

import (
	"bufio"
	"encoding/binary"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type measurement struct {
	sensor string
	at     int64
	values [24]float64
}

type table struct {
	rows  map[string][]*measurement
	bytes int64
}

type store struct {
	open    *table
	most    int64
	file    *os.File
	written int
	sensors []string // 9 MiB with what is known of them
	places  [][16]float64
}

func newStore(most int64) *store {
	s := &store{open: &table{rows: map[string][]*measurement{}}, most: most}
	for i := range 50_000 {
		s.sensors = append(s.sensors, strings.Repeat("s", i%32+8))
		s.places = append(s.places, [16]float64{float64(i)})
	}
	return s
}

func (s *store) put(m *measurement) error {
	s.open.rows[m.sensor] = append(s.open.rows[m.sensor], m)
	s.open.bytes += 8*24 + 24 + 24
	if s.open.bytes < s.most {
		return nil
	}
	full := s.open
	s.open = &table{rows: map[string][]*measurement{}}
	return s.flush(full)
}

// flush writes a table to a file that has no name any more.
func (s *store) flush(t *table) error {
	if s.file != nil {
		s.file.Close()
	}
	file, err := os.CreateTemp(".", "table-")
	if err != nil {
		return err
	}
	os.Remove(file.Name())
	s.file = file
	var names []string
	for name := range t.rows {
		names = append(names, name)
	}
	slices.Sort(names)
	w := bufio.NewWriter(file)
	for _, name := range names {
		for _, m := range t.rows[name] {
			if err := binary.Write(w, binary.LittleEndian, m.values[:4]); err != nil {
				return err
			}
			s.written++
		}
	}
	return w.Flush()
}

func main() {
	f := frame.Parse()
	s := newStore(f.Total)
	rows := int(f.Total / (8*24 + 48) / 150) // a table is full after three seconds
	for i := 0; !f.Over(); {
		for range rows {
			m := &measurement{sensor: s.sensors[i%len(s.sensors)], at: int64(i)}
			m.values[i%24] = s.places[i%len(s.places)][0]
			if err := s.put(m); err != nil {
				log.Fatal(err)
			}
			i++
		}
		time.Sleep(20 * time.Millisecond)
	}
	f.Stay()
	log.Printf("%d rows written", s.written)
}
