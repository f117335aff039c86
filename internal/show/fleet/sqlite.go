package fleet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// fileName is the database's, in the store's directory.
const fileName = "fleet.db"

// sqlite is a store in a directory of this machine.
type sqlite struct {
	db  *sql.DB
	dir string
}

func openSQLite(dir string) (*sqlite, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	name := url.URL{Scheme: "file", Path: filepath.Join(dir, fileName)}
	db, err := sql.Open("sqlite", name.String()+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous(normal)&_pragma=trusted_schema(off)")
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return &sqlite{db: db, dir: dir}, nil
}

func (s *sqlite) Close() error { return s.db.Close() }

func (s *sqlite) Init(ctx context.Context) error {
	for _, t := range Tables() {
		if _, err := s.db.ExecContext(ctx, t.inSQLite()); err != nil {
			return fmt.Errorf("make table %s in %s: %w", t.Name, s.dir, err)
		}
		if err := s.check(ctx, t); err != nil {
			return err
		}
	}
	return os.Chmod(filepath.Join(s.dir, fileName), 0o600)
}

func (t *Table) inSQLite() string {
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s, PRIMARY KEY (%s)) WITHOUT ROWID", t.Name, t.define(affinity[:]), strings.Join(t.key(), ", "))
}

func (s *sqlite) Statements() (list []string) {
	for _, t := range Tables() {
		list = append(list, t.inSQLite())
	}
	return list
}

// Check writes nothing, in a transaction that would write.
func (s *sqlite) Check(ctx context.Context) (time.Duration, error) {
	_, err := s.db.ExecContext(ctx, "DELETE FROM "+Points.Name+" WHERE 0")
	if err != nil {
		return 0, fmt.Errorf("write to %s: %w", s.dir, err)
	}
	return 0, nil
}

// check compares a table's columns with those that it should have.
func (s *sqlite) check(ctx context.Context, t *Table) error {
	rows, err := s.db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?) ORDER BY cid", t.Name)
	if err != nil {
		return err
	}
	defer rows.Close()
	var have []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		have = append(have, name)
	}
	return cmpColumns(t, have, rows.Err())
}

// ErrColumns is that a table of a store has other columns.
var ErrColumns = errors.New("use another database, or the version of highwater that made it")

// cmpColumns is the error that a table of a store has other columns.
func cmpColumns(t *Table, have []string, err error) error {
	if err != nil {
		return err
	}
	if got, want := strings.Join(have, ", "), strings.Join(t.names(), ", "); got != want {
		return fmt.Errorf("table %s has the columns %s; this version of highwater has %s: %w", t.Name, got, want, ErrColumns)
	}
	return nil
}

// Put replaces rows of the same key, unless they are newer, and forgets those that are older than the
// table keeps them.
func (s *sqlite) Put(ctx context.Context, t *Table, rows []byte) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write to the store: %w", err)
	}
	defer tx.Rollback()
	st, err := tx.PrepareContext(ctx, t.upsert())
	if err != nil {
		return fmt.Errorf("write to the store: %w", err)
	}
	defer st.Close()
	err = each(rows, t.row, func(row reflect.Value) error {
		args := make([]any, row.NumField())
		for i := range args {
			args[i] = bound(row.Field(i).Interface())
		}
		_, err := st.ExecContext(ctx, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s to the store: %w", t.Name, err)
	}
	if c, ok := t.find(func(c column) bool { return c.day }); ok && t.keep > 0 {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s < ?", t.Name, c.name), time.Now().Add(-t.keep).Unix()); err != nil {
			return fmt.Errorf("forget old rows: %w", err)
		}
	}
	return tx.Commit()
}

// upsert is the statement that writes a row.
func (t *Table) upsert() string {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.cols)), ", ")
	text := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.Name, strings.Join(t.names(), ", "), marks)
	var set []string
	newer := ""
	for _, c := range t.cols {
		if c.key == "" {
			set = append(set, c.name+" = excluded."+c.name)
		}
		if c.version {
			newer = " WHERE excluded." + c.name + " >= " + t.Name + "." + c.name
		}
	}
	return text + " ON CONFLICT DO UPDATE SET " + strings.Join(set, ", ") + newer
}

// bound is a value as the driver takes it.
func bound(v any) any {
	switch v := v.(type) {
	case ID:
		return v[:]
	case uint32:
		return int64(v)
	case uint64:
		return int64(min(v, 1<<63-1))
	case time.Time:
		return int64(seconds(v))
	case sample.Opt[uint32]:
		if !v.OK {
			return nil
		}
		return int64(v.V)
	case sample.Opt[uint64]:
		if !v.OK {
			return nil
		}
		return int64(min(v.V, 1<<63-1))
	}
	return v
}

func (s *sqlite) ask(ctx context.Context, q query, row reflect.Type) (out []byte, err error) {
	var text strings.Builder
	var args []any
	err = q.parts(func(t string) { text.WriteString(t) }, func(name, kind string) error {
		if kind == "" {
			text.WriteString(name)
			return nil
		}
		v, err := q.value(name, kind)
		text.WriteString(":" + name)
		args = append(args, sql.Named(name, bound(v)))
		return err
	})
	if err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, text.String(), args...)
	if err != nil {
		return nil, fmt.Errorf("ask the store: %w", err)
	}
	defer rows.Close()
	cells := make([]any, row.NumField())
	into := make([]any, len(cells))
	for i := range cells {
		into[i] = &cells[i]
	}
	v := reflect.New(row).Elem()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("ask the store: %w", err)
		}
		for i, cell := range cells {
			if err := unbound(cell, v.Field(i).Addr().Interface()); err != nil {
				return nil, fmt.Errorf("ask the store: column %d: %w", i, err)
			}
			out = appendValue(out, v.Field(i).Addr().Interface())
		}
	}
	return out, rows.Err()
}

// unbound puts a cell into a field of a row.
func unbound(cell, field any) error {
	n, isNumber := cell.(int64)
	switch f := field.(type) {
	case *string:
		text, ok := cell.(string)
		*f = text
		return isA(ok, cell, "a text")
	case *ID:
		b, ok := cell.([]byte)
		copy(f[:], b)
		return isA(ok && len(b) == len(f), cell, "16 bytes")
	case *uint32:
		*f = uint32(n)
	case *uint64:
		*f = uint64(n)
	case *int64:
		*f = n
	case *time.Time:
		*f = timeOf(n)
	case *sample.Opt[uint32]:
		*f = sample.Opt[uint32]{V: uint32(n), OK: isNumber}
		isNumber = isNumber || cell == nil
	case *sample.Opt[uint64]:
		*f = sample.Opt[uint64]{V: uint64(n), OK: isNumber}
		isNumber = isNumber || cell == nil
	}
	return isA(isNumber, cell, "a number")
}

func isA(ok bool, cell any, what string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("it has a %T, not %s", cell, what)
}
