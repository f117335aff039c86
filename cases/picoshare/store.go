package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"sync"
	"time"

	"github.com/highwater-go/highwater/cases/internal/faults"
)

// entry is a stored file.
type entry struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Type     string     `json:"type"`
	Size     int64      `json:"size"`
	Uploaded time.Time  `json:"uploaded"`
	Expires  *time.Time `json:"expires"` // nil: kept
}

var errNoEntry = errors.New("no such file")

// store keeps entries and their bytes in one SQLite database.
type store struct {
	db     *sql.DB
	faults *faults.Set

	// SQLite has one writer at a time. Those who wait here are served in turn;
	// those who wait in SQLite's busy handler sleep and may starve.
	writing sync.Mutex
}

// The index is by entry: a chunk is looked for among those of its file, which
// costs a page each and not their bytes.
const schema = `
CREATE TABLE IF NOT EXISTS entries (
	id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, size INTEGER NOT NULL,
	uploaded INTEGER NOT NULL, expires INTEGER -- milliseconds since 1970
);
CREATE TABLE IF NOT EXISTS chunks (entry TEXT NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_of_entry ON chunks (entry);
-- Chunks without an entry are of an upload that did not end.
DELETE FROM chunks WHERE entry NOT IN (SELECT id FROM entries);
`

// openStore opens or makes the database at path. The caller closes it.
func openStore(path string, f *faults.Set) (*store, error) {
	db, err := sql.Open(driver, source(path))
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(schema); err != nil {
		db.Close()
		return nil, fmt.Errorf("prepare %s: %w", path, err)
	}
	return &store{db: db, faults: f}, nil
}

func (s *store) close() error { return s.db.Close() }

// add stores the bytes of r under a new id. The entry comes last: before that,
// nobody can see a file that is not whole.
func (s *store) add(ctx context.Context, e entry, r io.Reader) (entry, error) {
	e.ID = rand.Text()[:12]
	var err error
	if s.faults.Has("onetx") {
		e.Size, err = s.writeInOne(ctx, e, r)
	} else {
		e.Size, err = s.writeEach(ctx, e, r)
	}
	if err != nil {
		return entry{}, fmt.Errorf("store %s: %w", e.Name, err)
	}
	return e, nil
}

const selectEntries = "SELECT id, name, type, size, uploaded, expires FROM entries WHERE (expires IS NULL OR expires > ?)"

// list returns what has not expired, newest first; never nil.
func (s *store) list(ctx context.Context) ([]entry, error) {
	rows, err := s.db.QueryContext(ctx, selectEntries+" ORDER BY uploaded DESC, id", time.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	entries := []entry{}
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

// get returns an entry that has not expired, or errNoEntry.
func (s *store) get(ctx context.Context, id string) (entry, error) {
	e, err := scan(s.db.QueryRowContext(ctx, selectEntries+" AND id = ?", time.Now().UnixMilli(), id))
	if errors.Is(err, sql.ErrNoRows) {
		return entry{}, errNoEntry
	}
	return e, err
}

func scan(row interface{ Scan(...any) error }) (entry, error) {
	var e entry
	var uploaded int64
	var expires sql.NullInt64
	if err := row.Scan(&e.ID, &e.Name, &e.Type, &e.Size, &uploaded, &expires); err != nil {
		return entry{}, err
	}
	e.Uploaded = time.UnixMilli(uploaded).UTC()
	if expires.Valid {
		at := time.UnixMilli(expires.Int64).UTC()
		e.Expires = &at
	}
	return e, nil
}

// remove deletes an entry and its bytes, or returns errNoEntry.
func (s *store) remove(ctx context.Context, id string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	r, err := s.db.ExecContext(ctx, "DELETE FROM entries WHERE id = ?", id)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errNoEntry)
	}
	_, err = s.db.ExecContext(ctx, "DELETE FROM chunks WHERE entry = ?", id)
	return err
}

// cleanEvery removes what has expired, until ctx ends. It rests for d after each
// cleaning, however long that took: uploads wait meanwhile.
func (s *store) cleanEvery(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			if err := s.clean(ctx, now); err != nil && ctx.Err() == nil {
				log.Print("clean: ", err)
			}
			t.Reset(d)
		}
	}
}

// clean removes what has expired by now. The space stays the database's, for
// the next upload.
func (s *store) clean(ctx context.Context, now time.Time) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	const gone = "SELECT id FROM entries WHERE expires <= ?"
	if _, err := s.db.ExecContext(ctx, "DELETE FROM chunks WHERE entry IN ("+gone+")", now.UnixMilli()); err != nil {
		return err
	}
	if _, err := s.db.ExecContext(ctx, "DELETE FROM entries WHERE expires <= ?", now.UnixMilli()); err != nil {
		return err
	}
	if s.faults.Has("vacuum") {
		_, err := s.db.ExecContext(ctx, "VACUUM") // fault: vacuum
		return err
	}
	return nil
}

// vacuum gives free space back to the disk. In WAL mode VACUUM writes the whole
// database into the log first, which never shrinks by itself.
func (s *store) vacuum(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.db.ExecContext(ctx, "VACUUM"); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}
