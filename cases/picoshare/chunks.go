package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
)

// chunkSize is how much of a file stands in one row.
const chunkSize = 327_680

const insertChunk = "INSERT INTO chunks (entry, number, bytes) VALUES (?, ?, ?)"

// writeEach stores r's chunks, each by itself, and the entry after the last.
// SQLite moves them from its log to the database as they come.
func (s *store) writeEach(ctx context.Context, e entry, r io.Reader) (int64, error) {
	size, err := eachChunk(r, func(number int, b []byte) error {
		s.writing.Lock()
		defer s.writing.Unlock()
		_, err := s.db.ExecContext(ctx, insertChunk, e.ID, number, b)
		return err
	})
	s.writing.Lock()
	defer s.writing.Unlock()
	if err == nil {
		err = insertEntry(ctx, s.db, e, size)
	}
	if err != nil {
		// The client may be gone, and ctx with it.
		_, removing := s.db.Exec("DELETE FROM chunks WHERE entry = ?", e.ID)
		return 0, errors.Join(err, removing)
	}
	return size, nil
}

// writeInOne stores everything in one transaction. Until its end the log holds
// the whole file, and no other upload can write.
func (s *store) writeInOne(ctx context.Context, e entry, r io.Reader) (int64, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	tx, err := s.db.BeginTx(ctx, nil) // fault: onetx
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	size, err := eachChunk(r, func(number int, b []byte) error {
		_, err := tx.ExecContext(ctx, insertChunk, e.ID, number, b)
		return err
	})
	if err != nil {
		return 0, err
	}
	if err := insertEntry(ctx, tx, e, size); err != nil {
		return 0, err
	}
	return size, tx.Commit()
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func insertEntry(ctx context.Context, db execer, e entry, size int64) error {
	var expires any
	if e.Expires != nil {
		expires = e.Expires.UnixMilli()
	}
	_, err := db.ExecContext(ctx, "INSERT INTO entries (id, name, type, size, uploaded, expires) VALUES (?, ?, ?, ?, ?, ?)",
		e.ID, e.Name, e.Type, size, e.Uploaded.UnixMilli(), expires)
	return err
}

// eachChunk hands r over in chunks, valid during the call, and returns how many
// bytes there were.
func eachChunk(r io.Reader, write func(number int, b []byte) error) (size int64, err error) {
	b := make([]byte, chunkSize)
	for number := 0; ; number++ {
		n, err := io.ReadFull(r, b)
		if n > 0 {
			if err := write(number, b[:n]); err != nil {
				return size, err
			}
			size += int64(n)
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return size, nil
		default:
			return size, err
		}
	}
}

// reader reads a stored file from any offset, one chunk at a time.
type reader struct {
	ctx    context.Context
	store  *store
	entry  entry
	offset int64

	number int64 // of the chunk in bytes
	bytes  []byte
}

// open returns a reader of the entry's bytes.
func (s *store) open(ctx context.Context, e entry) *reader {
	return &reader{ctx: ctx, store: s, entry: e, number: -1}
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.offset >= r.entry.Size {
		return 0, io.EOF
	}
	if number := r.offset / chunkSize; number != r.number {
		if err := r.load(number); err != nil {
			return 0, fmt.Errorf("read chunk %d of %s: %w", number, r.entry.ID, err)
		}
	}
	from := r.offset % chunkSize
	if from >= int64(len(r.bytes)) {
		return 0, io.ErrUnexpectedEOF // a chunk is shorter than it was written
	}
	n := copy(p, r.bytes[from:])
	r.offset += int64(n)
	return n, nil
}

func (r *reader) load(number int64) error {
	query := "SELECT bytes FROM chunks WHERE entry = ? AND number = ?"
	if r.store.faults.Has("chunkge") {
		query = "SELECT bytes FROM chunks WHERE entry = ? AND number >= ? ORDER BY number"
	}
	row := r.store.db.QueryRowContext(r.ctx, query, r.entry.ID, number)
	if err := row.Scan(&r.bytes); err != nil { // fault: chunkge
		return err
	}
	r.number = number
	return nil
}

// Seek implements io.Seeker.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.offset
	case io.SeekEnd:
		offset += r.entry.Size
	}
	if offset < 0 {
		return 0, errors.New("seek before the file's start")
	}
	r.offset = offset
	return offset, nil
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.bytes = nil
	return nil
}
