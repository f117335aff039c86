package recording

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/highwater-go/highwater/internal/files/regular"
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
		r.db, err = openForeign(r.path, "mode=ro&_defensive=1", "busy_timeout = 2000")
	default:
		if damaged := checkWAL(wal); damaged != nil {
			r.note(fmt.Errorf("the recording is damaged: %w", damaged))
		}
		err = r.attachCopy(-1, "", "-wal")
	}
	return r.checkAfter(err)
}

// attachFinished reads a file that nobody writes.
func (r *Reader) attachFinished() error {
	f, err := regular.Open(r.path)
	if err != nil {
		return notRegular(err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	s, sealed := readSums(f, info.Size())
	if s != nil {
		return r.attachPages(f, s.page*s.pages(), s)
	}
	h, err := readHeader(f)
	if err != nil {
		f.Close()
		return err
	}
	if h.have < h.want {
		f.Close()
		return r.attachCut(h.have, h.want)
	}
	switch {
	case sealed != nil:
		r.note(fmt.Errorf("the recording is damaged: %w", sealed))
	case info.Size() > h.want:
		r.note(errors.New("the recording is cut within its checksums"))
	}
	if err := r.attachPages(f, h.want, nil); err != nil {
		return err
	}
	return r.missesSums()
}

// attachPages reads the first size bytes of an open file.
func (r *Reader) attachPages(f *os.File, size int64, s *sums) (err error) {
	if r.pages, err = openPages(f, size, s); err != nil {
		return err
	}
	r.db, err = openForeign(pagesName, "mode=ro&immutable=1&_defensive=1&vfs="+r.pages.name)
	err = r.checkAfter(err)
	if err != nil && r.pages.wrong != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, r.pages.wrong)
	}
	return err
}

// missesSums notes that a file says that it was sealed and has no checksums.
func (r *Reader) missesSums() error {
	return r.meta(func(key, _ string) {
		if key == metaSealed {
			r.note(errors.New("the recording is cut: its checksums are missing"))
		}
	})
}

// attachCut reads the first bytes of a file that had more. Only whole pages: SQLite
// reads the missing end of a page as zeros, and they would come out as rows.
func (r *Reader) attachCut(have, want int64) error {
	r.note(fmt.Errorf("the recording is cut: %d of %d bytes are there", have, want))
	if err := r.attachCopy(have, ""); err != nil {
		return err
	}
	err := r.check()
	if err != nil && damaged(err) {
		return ErrCut{have, want}
	}
	return err
}

// notRegular says of a directory or a pipe that it is not a recording.
func notRegular(err error) error {
	if errors.Is(err, regular.ErrNot) {
		return fmt.Errorf("%w: %w", ErrNotRecording, err)
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
	r.db, err = openForeign(name, "mode=ro", "writable_schema = ON")
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
	r.minor = int(version % 1000)
	if version/1000 != Major {
		return ErrNewer{int(version / 1000), int(version % 1000)}
	}
	return r.checkTables(r.minor)
}

// checkTables reads the schema, so that a file whose first pages are not whole is
// refused here and not in a query, and one that another program has changed.
func (r *Reader) checkTables(minor int) error {
	have, err := r.checkSchema(minor)
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

// copyFile copies the first size bytes, or everything if size is negative.
func copyFile(to, from string, size int64) error {
	src, err := regular.Open(from)
	if err != nil {
		return notRegular(err)
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
