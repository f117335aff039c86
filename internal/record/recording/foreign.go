package recording

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A recording may come from anybody. These are the defences that SQLite has for such
// a file (sqlite.org/security.html, "Untrusted SQLite Database Files"), but for a
// progress handler, which the driver does not offer: a reading command watches its
// own time and memory instead.
var (
	foreignPragmas = []string{"trusted_schema = OFF", "cell_size_check = ON", "query_only = ON", "mmap_size = 0"}
	foreignLimits  = []limit{
		{sqlite3.SQLITE_LIMIT_LENGTH, 64 << 20}, // bytes of a cell, a row or a statement
		{sqlite3.SQLITE_LIMIT_SQL_LENGTH, 16 << 20},
		{sqlite3.SQLITE_LIMIT_COLUMN, 200},
		{sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 20},
		{sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 3},
		{sqlite3.SQLITE_LIMIT_VDBE_OP, 25000},
		{sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 8},
		{sqlite3.SQLITE_LIMIT_ATTACHED, 0},
		{sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
		{sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 10},
		{sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 10},
	}
)

type limit struct{ which, most int }

// openForeign is openDatabase of a file that is not trusted.
func openForeign(path, parameters string, pragmas ...string) (*database, error) {
	db, err := openDatabase(path, parameters, append(foreignPragmas, pragmas...)...)
	if err != nil {
		return nil, err
	}
	if err := db.limit(foreignLimits); err != nil {
		return nil, err
	}
	return db, nil
}

// limit sets limits, for which the driver wants a connection of database/sql. It
// closes the connection if it fails.
func (db *database) limit(limits []limit) error {
	db.pool = sql.OpenDB(oneConnection{db.conn})
	held, err := db.pool.Conn(background)
	for i := 0; i < len(limits) && err == nil; i++ {
		_, err = sqlite.Limit(held, limits[i].which, limits[i].most)
	}
	if held != nil {
		err = errors.Join(err, held.Close())
	}
	if err != nil {
		_ = db.close()
	}
	return err
}

// oneConnection hands over a connection that is open already.
type oneConnection struct{ driver.Conn }

func (c oneConnection) Connect(context.Context) (driver.Conn, error) { return c.Conn, nil }
func (c oneConnection) Driver() driver.Driver                        { return new(sqlite.Driver) }
