package fleet

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
)

// Table is one of the tables, and the form of its rows.
type Table struct {
	Name string
	row  reflect.Type
	keep time.Duration // how long a row is kept; 0: for ever
	cols []column
}

// column is a field of a row, in the words of a store.
type column struct {
	name    string
	kind    kind
	key     string // its place in the key, "" for none
	version bool   // of several rows of one key, the one with the greatest counts
	day     bool   // rows lie together by its day
}

// kind is what a column holds: the types that both stores have.
type kind int

const (
	kindString kind = iota // UTF-8
	kindID                 // 16 bytes
	kindUint32
	kindUint64
	kindInt64
	kindTime // whole seconds since 1970, UTC
	kindOptUint32
	kindOptUint64
)

// clickhouse is each kind's name there, sqlite's affinity here.
var (
	clickhouse = [...]string{"String", "FixedString(16)", "UInt32", "UInt64", "Int64", "DateTime", "Nullable(UInt32)", "Nullable(UInt64)"}
	affinity   = [...]string{"TEXT NOT NULL", "BLOB NOT NULL", "INTEGER NOT NULL", "INTEGER NOT NULL", "INTEGER NOT NULL", "INTEGER NOT NULL", "INTEGER",
		"INTEGER"}
)

const day = 24 * time.Hour

// The tables.
var (
	Stacks    = table[Stack]("stack", 400*day)
	Processes = table[Process]("process", 400*day)
	Points    = table[Point]("point", 14*day)
	HeapHours = table[HeapHour]("heap_hour", 90*day)
	HeapDays  = table[HeapDay]("heap_day", 400*day)
	Incidents = table[Incident]("incident", 400*day)
)

// Tables are all of them, those first that others name.
func Tables() []*Table { return []*Table{Stacks, Processes, Points, HeapHours, HeapDays, Incidents} }

// TableOf is the table of that name, nil for none.
func TableOf(name string) *Table {
	for _, t := range Tables() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func table[T any](name string, keep time.Duration) *Table {
	t := &Table{Name: name, row: reflect.TypeFor[T](), keep: keep}
	t.cols = columnsOf(t.row)
	return t
}

func columnsOf(row reflect.Type) (cols []column) {
	for i := range row.NumField() {
		f := row.Field(i)
		k, ok := kindOf(f.Type)
		if !ok {
			panic(fmt.Sprintf("fleet: %s.%s has a type that no column has", row, f.Name))
		}
		cols = append(cols, column{name: f.Tag.Get("col"), kind: k, key: f.Tag.Get("key"), version: f.Tag.Get("version") != "", day: f.Tag.Get("day") != ""})
	}
	return cols
}

func kindOf(t reflect.Type) (kind, bool) {
	switch t {
	case reflect.TypeFor[string]():
		return kindString, true
	case reflect.TypeFor[ID]():
		return kindID, true
	case reflect.TypeFor[uint32]():
		return kindUint32, true
	case reflect.TypeFor[uint64]():
		return kindUint64, true
	case reflect.TypeFor[int64]():
		return kindInt64, true
	case reflect.TypeFor[time.Time]():
		return kindTime, true
	case reflect.TypeFor[sample.Opt[uint32]]():
		return kindOptUint32, true
	case reflect.TypeFor[sample.Opt[uint64]]():
		return kindOptUint64, true
	}
	return 0, false
}

// names are the columns, in their order.
func (t *Table) names() []string {
	list := make([]string, len(t.cols))
	for i, c := range t.cols {
		list[i] = c.name
	}
	return list
}

// key is the columns that tell rows apart, in order.
func (t *Table) key() []string {
	var keys []column
	for _, c := range t.cols {
		if c.key != "" {
			keys = append(keys, c)
		}
	}
	sorting.Stable(keys, func(a, b column) int { return cmp.Compare(a.key, b.key) })
	list := make([]string, len(keys))
	for i, c := range keys {
		list[i] = c.name
	}
	return list
}

// find is the first column that is asked for.
func (t *Table) find(is func(column) bool) (c column, ok bool) {
	i := slices.IndexFunc(t.cols, is)
	if i < 0 {
		return column{}, false
	}
	return t.cols[i], true
}

// define lists the columns with their types.
func (t *Table) define(types []string) string {
	list := make([]string, len(t.cols))
	for i, c := range t.cols {
		list[i] = c.name + " " + types[c.kind]
	}
	return strings.Join(list, ", ")
}
