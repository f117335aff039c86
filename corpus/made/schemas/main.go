// Schemas reads rows whose columns the client chooses: it makes a struct type for
// the columns with reflect and lets encoding/json fill it. Types are never freed,
// and both packages keep what they know of each. Repaired, rows become maps.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"reflect"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// perSchema is about what a type of 16 columns takes, in bytes.
const perSchema = 10 << 10

func main() {
	f := frame.Parse()
	known := 0
	f.Each(func(i int) {
		for upTo := int(int64(i+1) * int64(f.Unit) / perSchema); known < upTo; known++ {
			if err := load(columns(known), f.Repaired); err != nil {
				log.Fatal(err)
			}
		}
	})
	f.Stay()
}

// columns are those of a client's table.
func columns(table int) (names []string) {
	for i := range 16 {
		names = append(names, fmt.Sprintf("c%d_%d", table, i))
	}
	return names
}

func load(columns []string, repaired bool) error {
	text := []byte(`{"` + columns[0] + `":"a","` + columns[1] + `":"b"}`)
	if repaired {
		return json.Unmarshal(text, &map[string]string{})
	}
	row := reflect.New(rowType(columns))
	return json.Unmarshal(text, row.Interface()) // truth: fields
}

func rowType(columns []string) reflect.Type {
	fields := make([]reflect.StructField, len(columns))
	for i, name := range columns {
		fields[i] = reflect.StructField{
			Name: "C" + name[1:], Type: reflect.TypeFor[string](),
			Tag: reflect.StructTag(`json:"` + name + `"`), // truth: names
		}
	}
	return reflect.StructOf(fields) // truth: makes
}
