// Package cells changes cells of a recording, as somebody can who has a SQL tool and
// means harm: the file is sound, and its figures are not. It is for tests alone.
package cells

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"modernc.org/sqlite"

	"github.com/highwater-go/highwater/internal/record/recording"
)

// Change changes one to three cells, or now and then the schema, and makes the
// checksums fit. It returns what it did.
func Change(path string, rng *rand.Rand) (done []string, err error) {
	c, err := new(sqlite.Driver).Open("file:" + path + "?mode=rw")
	if err != nil {
		return nil, err
	}
	f := &file{c.(connection), rng}
	for range 1 + rng.IntN(3) {
		what, err := f.change()
		if err != nil {
			c.Close()
			return done, fmt.Errorf("%s: %w", what, err)
		}
		done = append(done, what)
	}
	if err := c.Close(); err != nil {
		return done, err
	}
	return done, recording.Seal(path)
}

type connection interface {
	driver.Conn
	driver.ExecerContext
	driver.QueryerContext
}

type file struct {
	connection
	rng *rand.Rand
}

// programs are what no Writer makes.
var programs = []string{
	"ALTER TABLE meta RENAME TO m0; CREATE VIEW meta AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS key, x AS value FROM c",
	"CREATE VIEW v AS SELECT hex(zeroblob(400000000))",
	"ALTER TABLE frame ADD COLUMN more TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000)))",
	"CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM sample; END",
	"CREATE INDEX i ON frame (hex(function))",
	"PRAGMA user_version = 1000", "PRAGMA user_version = 1999", "PRAGMA user_version = 2000",
}

func (f *file) change() (string, error) {
	if f.rng.IntN(40) == 0 {
		sql := programs[f.rng.IntN(len(programs))]
		_, _ = f.ExecContext(context.Background(), sql, nil) // what a second one cannot do twice
		return sql, nil
	}
	tables, err := f.column("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		return "", err
	}
	table := tables[f.rng.IntN(len(tables))]
	columns, err := f.column("SELECT name FROM pragma_table_info('" + table + "')")
	if err != nil {
		return table, err
	}
	column, value := columns[f.rng.IntN(len(columns))], f.value()
	where := ""
	if f.rng.IntN(20) != 0 { // else in all rows
		where = fmt.Sprintf(" WHERE rowid = (SELECT rowid FROM %s LIMIT 1 OFFSET %d %% max(1, (SELECT count(*) FROM %s)))", table, f.rng.IntN(1<<20), table)
	}
	sql := "UPDATE OR IGNORE " + table + " SET " + column + " = " + value + where
	_, err = f.ExecContext(context.Background(), sql, nil)
	if err != nil && (strings.Contains(err.Error(), "datatype mismatch") || strings.Contains(err.Error(), "NOT NULL") ||
		strings.Contains(err.Error(), "ambiguous") || strings.Contains(err.Error(), "no such column")) {
		err = nil // a row number is a number, and what a view was put before is not to be changed
	}
	return sql, err
}

// column is the first column of a query's rows.
func (f *file) column(sql string) (list []string, err error) {
	rows, err := f.QueryContext(context.Background(), sql, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := make([]driver.Value, 1)
	for {
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, fmt.Sprint(row[0]))
	}
}

// values are texts of SQL for what a cell should never hold.
var values = []string{
	"NULL", "0", "1", "-1", "2", "'NaN'", "''", "'x'", "9e999", "-9e999", "1e300", "0.5", "x''", "x'28b52ffd00'",
	"9223372036854775807", "-9223372036854775808", "4611686018427387904", "4294967295", "4294967296", "2147483648", "1048576", "65536",
	"zeroblob(1048576)", "hex(zeroblob(500000))", "'[]'", "'[0]'", "'[1,1,1,1]'", "'[18446744073709551615]'", "'{}'", "'null'", "'[[1,2],[1,[1,2]]]'",
	"'[' || replace(hex(zeroblob(20000)), '00', '1,') || '1]'", "replace(hex(zeroblob(20000)), '0', '[')", "char(27) || ']0;x' || char(7)",
	"'runtime.gopark'", "'main.init.0'", "'kill'", "'death'", "'oom-kill'", "'exit'", "'load-start'", "'heap profile'",
}

// value is one of values, or made of the cell's own.
func (f *file) value() string {
	switch n := f.rng.IntN(len(values) + 12); {
	case n < len(values):
		return values[n]
	case n%6 == 0:
		return fmt.Sprint(int64(f.rng.Uint64()))
	case n%6 == 1:
		return fmt.Sprint(math.Float64frombits(f.rng.Uint64() &^ (1 << 62)))
	case n%6 == 2:
		return fmt.Sprintf("rowid + %d", f.rng.IntN(5)-2)
	default:
		return fmt.Sprint(1 << f.rng.IntN(63))
	}
}
