// Slicehead looks at the last 100 records only, by a slice of a history that it
// never cuts. Repaired, it copies the last ones and forgets the rest.
package main

import "github.com/highwater-go/highwater/corpus/made/frame"

type record struct {
	number int
	text   []byte
}

type journal struct{ recent, all []*record }

func main() {
	f := frame.Parse()
	var j journal
	f.Each(func(i int) {
		j.add(newRecord(i, f.Unit))
		if f.Repaired && len(j.all) > 500 {
			j.all = append([]*record(nil), j.recent...)
		}
	})
	f.Stay()
}

func newRecord(i, size int) *record {
	return &record{i, frame.Touch(make([]byte, size))} // truth: allocates
}

func (j *journal) add(r *record) {
	j.all = append(j.all, r) // truth: keeps
	j.recent = j.all[max(0, len(j.all)-100):]
}
