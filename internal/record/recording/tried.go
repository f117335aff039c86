package recording

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Tried is what became of a change that was run for real, under the load that a
// recording was made with.
type Tried struct {
	At    time.Time
	Fix   string // the change as the answer words it; "" is the program as it was
	Kind  string // "base", "code", "config" or "limit"
	Name  string // of the variant that was run
	Limit sample.Bytes
	Runs  int
	Lost  int
	Why   string // "killed 3 of 3", "3 of 3 survived"
}

// triedSchema is the table that only a recording has whose fixes were tried.
const triedSchema = `CREATE TABLE IF NOT EXISTS tried (
  id INTEGER PRIMARY KEY,
  at INTEGER, fix TEXT, kind TEXT, name TEXT, memory_limit INTEGER, runs INTEGER, lost INTEGER, why TEXT
)`

var tableTried = table{"tried", words(`at fix kind name memory_limit runs lost why`)}

// ErrUnderWay says that a recording cannot be added to: it is being written, or its
// writer was killed.
var ErrUnderWay = errors.New("the recording was not finished")

// AddTried adds rows to a finished recording, all or none.
func AddTried(path string, list []Tried) (err error) {
	if size, failed := fileSize(path + "-wal"); failed == nil && size > 0 {
		return fmt.Errorf("add to %s: %w", path, ErrUnderWay)
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	db, err := openDatabase(path, "mode=rw", "busy_timeout = 2000")
	if err != nil {
		return fmt.Errorf("add to %s: %w", path, err)
	}
	if err := db.addTried(list); err != nil {
		return fmt.Errorf("add to %s: %w", path, errors.Join(err, db.exec("ROLLBACK"), db.close()))
	}
	if err := db.close(); err != nil {
		return fmt.Errorf("add to %s: %w", path, err)
	}
	return Seal(path) // its pages are others now
}

func (db *database) addTried(list []Tried) error {
	if err := db.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := db.exec(triedSchema); err != nil {
		return err
	}
	for _, t := range list {
		if err := db.exec(tableTried.insert(), t.At.UnixNano(), t.Fix, t.Kind, t.Name, int64(t.Limit), int64(t.Runs), int64(t.Lost), t.Why); err != nil {
			return err
		}
	}
	return db.exec("COMMIT")
}

// Tried are the changes that were run for real, in the order in which that was done. A
// recording whose fixes were not tried has none.
func (r *Reader) Tried() (list []Tried, err error) {
	if has, err := r.hasTable(tableTried.name); !has || err != nil {
		return nil, err
	}
	err = r.rows(func(row []driver.Value) error {
		list = append(list, Tried{At: instantOf(row[1]), Fix: str(row[2]), Kind: str(row[3]), Name: str(row[4]), Limit: sample.Bytes(integer(row[5])),
			Runs: int(integer(row[6])), Lost: int(integer(row[7])), Why: str(row[8])})
		return nil
	}, tableTried.selFrom(tableTried.name)+" ORDER BY id")
	return list, err
}
