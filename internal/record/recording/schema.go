package recording

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ErrForeign says that a file has the form of a recording and holds something that
// highwater never writes: another program has changed it, and it is not read. A
// view, a trigger or a column that is computed is a program, which would run here.
type ErrForeign struct{ What string }

func (e ErrForeign) Error() string {
	return "the recording was changed by another program: it holds " + e.What + ", which highwater never writes"
}

// ours is every table that a recording of this version may hold: its columns, in
// order, each with its type and what it refers to.
var ours = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, text := range []string{schema, askedSchema, heapSchema, traceSchema, triedSchema, mallocSchema, growthSchema, filesSchema, nativeSchema} {
		for part := range strings.SplitSeq(text, ";") {
			if i := strings.Index(part, "CREATE TABLE "); i >= 0 {
				name, columns, ok := parseTable(strings.Replace(part[i:], "IF NOT EXISTS ", "", 1))
				if !ok {
					panic("recording: the schema is not in its own form: " + part)
				}
				all[name] = columns
			}
		}
	}
	return all
})

// parseTable reads a statement as SQLite keeps it, in the one form that ours have:
//
//	CREATE TABLE name ( column TYPE [PRIMARY KEY | REFERENCES table], ... )
//
// False: it is anything more, such as a constraint, a default or an expression.
func parseTable(text string) (name string, columns []string, ok bool) {
	text, isTable := strings.CutPrefix(strings.TrimSpace(text), "CREATE TABLE ")
	name, list, found := strings.Cut(text, "(")
	list, whole := strings.CutSuffix(list, ")")
	name = strings.TrimSpace(name)
	if !isTable || !found || !whole || !isWord(name) {
		return "", nil, false
	}
	for column := range strings.SplitSeq(list, ",") {
		w := strings.Fields(column)
		if !isColumn(w) {
			return "", nil, false
		}
		columns = append(columns, strings.Join(w, " "))
	}
	return name, columns, true
}

func isColumn(w []string) bool {
	for _, word := range w {
		if !isWord(word) {
			return false
		}
	}
	if len(w) < 2 || !slices.Contains([]string{"INTEGER", "TEXT", "REAL", "BLOB"}, w[1]) {
		return false
	}
	return len(w) == 2 || len(w) == 4 && (w[2] == "PRIMARY" && w[3] == "KEY" || w[2] == "REFERENCES")
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// checkSchema refuses what is not a recording's schema. A table must be exactly ours;
// of an older minor version columns may be missing, and a newer one may have more
// tables and columns, of the same form.
func (r *Reader) checkSchema(minor int) (map[string]bool, error) {
	have := map[string]bool{}
	err := r.db.query(func(row []driver.Value) error {
		kind, name := str(row[0]), str(row[1])
		switch {
		case kind == "index" && name == "sqlite_autoindex_meta_1" && row[2] == nil:
			return nil
		case kind != "table":
			return ErrForeign{fmt.Sprintf("the %s %.40q", kind, name)}
		}
		named, columns, ok := parseTable(str(row[2]))
		if !ok || named != name {
			return ErrForeign{fmt.Sprintf("another form of the table %.40q", name)}
		}
		have[name] = true
		return fits(name, columns, minor)
	}, "SELECT type, name, sql FROM sqlite_schema")
	return have, err
}

// fits says whether a table may be in a recording of that minor version.
func fits(name string, columns []string, minor int) error {
	want, known := ours()[name]
	switch {
	case !known && minor <= Minor:
		return ErrForeign{fmt.Sprintf("the table %.40q", name)}
	case known && minor == Minor && !slices.Equal(columns, want),
		known && minor < Minor && !isPartOf(columns, want),
		known && minor > Minor && !isPartOf(want, columns):
		return ErrForeign{fmt.Sprintf("other columns in the table %.40q", name)}
	}
	return nil
}

// isPartOf says whether the columns of one table are, in their order, among those
// of another.
func isPartOf(few, many []string) bool {
	for _, c := range many {
		if len(few) > 0 && few[0] == c {
			few = few[1:]
		}
	}
	return len(few) == 0
}
