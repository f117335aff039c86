package recording

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// attach connects to the file in the way that its state asks for, and never in
// one that changes it:
//
//	no WAL, or an empty one   finished: read as immutable, without any lock
//	  and too short           cut: a private copy of its whole pages is read
//	a WAL, lock held          being written: read through the WAL, as SQLite's
//	                          readers do (which marks its -shm file, not the data)
//	a WAL, lock free          the writer was killed: SQLite would repair the
//	                          files, so it is given a private copy of them
func (r *Reader) attach() error {
	for try := 0; ; try++ {
		err := r.attachOnce()
		if err != nil {
			_ = r.detach()
		}
		// A writer that finishes meanwhile takes its WAL away.
		if try < 3 && errors.Is(err, fs.ErrNotExist) && exists(r.path) {
			continue
		}
		return err
	}
}

func (r *Reader) attachOnce() (err error) {
	wal := r.path + "-wal"
	r.live = false
	info, err := os.Stat(r.path)
	if err != nil {
		return err
	}
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() { // a pipe would keep us waiting
		return fmt.Errorf("not a regular file: %w", ErrNotRecording)
	}
	size, failed := fileSize(wal)
	switch {
	case failed != nil && !errors.Is(failed, fs.ErrNotExist):
		return failed
	case size == 0:
		return r.attachFinished()
	case locked(wal):
		r.live = true
		r.db, err = openDatabase(r.path, "mode=ro", "busy_timeout = 2000")
	default:
		err = r.attachCopy(-1, "", "-wal")
	}
	return r.checkAfter(err)
}

// attachFinished reads a file that nobody writes.
func (r *Reader) attachFinished() error {
	have, want, err := readHeader(r.path)
	if err != nil {
		return err
	}
	if have >= want {
		r.db, err = openDatabase(r.path, "mode=ro&immutable=1")
		return r.checkAfter(err)
	}
	// Only whole pages: SQLite reads the missing end of a page as zeros, and they
	// would come out as rows.
	r.note(fmt.Errorf("the recording is cut: %d of %d bytes are there", have, want))
	if err := r.attachCopy(have, ""); err != nil {
		return err
	}
	err = r.check()
	if err != nil && damaged(err) {
		return ErrCut{have, want}
	}
	return err
}

// attachCopy opens a private copy of the file's first size bytes (whole pages;
// -1: all), with the files that have the suffixes beside it.
func (r *Reader) attachCopy(size int64, suffixes ...string) error {
	dir, err := os.MkdirTemp("", "highwater-")
	if err != nil {
		return err
	}
	r.scratch = dir
	name := filepath.Join(dir, "copy.hwm")
	for _, suffix := range suffixes {
		if err := copyFile(name+suffix, r.path+suffix, size); err != nil {
			return err
		}
	}
	// writable_schema lets SQLite open a file that is shorter than its header
	// says (sqlite.org/pragma.html); nothing is written to it.
	r.db, err = openDatabase(name, "mode=ro", "writable_schema = ON")
	return err
}

func (r *Reader) checkAfter(err error) error {
	if err != nil {
		return err
	}
	return r.check()
}

// check refuses what is no recording, or one of another major version.
func (r *Reader) check() error {
	id, err := r.db.integer("PRAGMA application_id")
	if err != nil {
		return err
	}
	if id != applicationID {
		return ErrNotRecording
	}
	version, err := r.db.integer("PRAGMA user_version")
	if err != nil {
		return err
	}
	if version/1000 != Major {
		return ErrNewer{int(version / 1000), int(version % 1000)}
	}
	return r.checkTables(int(version % 1000))
}

// checkTables reads the schema, so that a file whose first pages are not whole is
// refused here and not in a query.
func (r *Reader) checkTables(minor int) error {
	have := map[string]bool{}
	err := r.db.query(func(row []driver.Value) error {
		have[str(row[0])] = true
		return nil
	}, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return err
	}
	for _, t := range tables {
		if !have[t.name] && (minor >= 1 || t.name != tableMetric.name) {
			return fmt.Errorf("table %s: %w", t.name, ErrMissing)
		}
	}
	if minor < Minor {
		return r.readColumns()
	}
	return nil
}

// readColumns notes what an older minor version has.
func (r *Reader) readColumns() error {
	r.older = map[string][]string{}
	return r.db.query(func(row []driver.Value) error {
		r.older[str(row[0])] = append(r.older[str(row[0])], str(row[1]))
		return nil
	}, "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'")
}

// readHeader reads how long a SQLite file is and how long its header says it is
// (sqlite.org/fileformat2.html, "the database header"), in bytes. Only whole
// pages count as there.
func readHeader(path string) (have, want int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	if info.IsDir() {
		return 0, 0, fmt.Errorf("a directory: %w", ErrNotRecording)
	}
	header := make([]byte, 100)
	n, err := io.ReadFull(f, header)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, 0, err
	}
	return parseHeader(header[:n], info.Size())
}

const magic = "SQLite format 3\x00"

func parseHeader(header []byte, size int64) (have, want int64, err error) {
	short := header[:min(len(header), len(magic))]
	if len(short) == 0 || string(short) != magic[:len(short)] {
		return 0, 0, ErrNotRecording
	}
	if len(header) < 100 {
		return 0, 0, ErrCut{Have: size}
	}
	if binary.BigEndian.Uint32(header[68:]) != applicationID {
		return 0, 0, ErrNotRecording
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 65536
	}
	if page < 512 || page&(page-1) != 0 {
		return 0, 0, fmt.Errorf("page size %d: %w", page, ErrNotRecording)
	}
	want = page * int64(binary.BigEndian.Uint32(header[28:]))
	if size < page {
		return 0, 0, ErrCut{size, want}
	}
	return size / page * page, want, nil
}

// copyFile copies the first size bytes, or everything if size is negative.
func copyFile(to, from string, size int64) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	var in io.Reader = src
	if size >= 0 {
		in = io.LimitReader(src, size)
	}
	_, err = io.Copy(dst, in)
	return errors.Join(err, dst.Close())
}

func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
