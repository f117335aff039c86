package recording

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"
)

// write runs one addition to the open transaction and ends the recording if it
// fails.
func (w *Writer) write(what string, add func() error) error {
	if w.db == nil {
		return ErrClosed
	}
	err := w.begin()
	if err == nil {
		err = add()
	}
	if err != nil {
		return w.end(fmt.Errorf("%s: %w", what, err))
	}
	if time.Since(w.lastSync) < commitEvery {
		return nil
	}
	return w.Flush()
}

// scratch is memory that is used again and again while rows are written. It is lent for
// a transaction: each of a hundred recordings would keep 8 KiB.
type scratch struct {
	named   []driver.NamedValue
	row     []driver.Value
	content content
	ids     numbers
}

var scratchFree = sync.Pool{New: func() any {
	return &scratch{content: make(content, 0, 4096), ids: make(numbers, 0, 128)}
}}

func (w *Writer) begin() error {
	if w.begun {
		return nil
	}
	if err := w.wake(); err != nil {
		return err
	}
	w.scratch = scratchFree.Get().(*scratch)
	if err := w.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	w.begun = true
	return nil
}

func (w *Writer) commit() error {
	w.lastSync = time.Now()
	if !w.begun {
		return nil
	}
	if err := w.keepRoom(); err != nil {
		return err
	}
	if err := w.run("COMMIT"); err != nil {
		return err
	}
	w.begun, w.committed = false, w.lastSync
	scratchFree.Put(w.scratch)
	w.scratch = nil
	return nil
}

// end gives the recording up: what was committed stays.
func (w *Writer) end(err error) error {
	if w.begun {
		// SQLite may have rolled back already, at a full disk for example.
		_ = w.db.exec("ROLLBACK")
	}
	err = whyFull(w.path, err)
	w.lastWords(err)
	_ = w.abandon()
	return fmt.Errorf("write recording %s: %w", w.path, err)
}

// abandon closes the connection, which moves the WAL into the file if it can.
func (w *Writer) abandon() error {
	var errs []error
	w.closeStatements()
	if w.db != nil {
		errs = append(errs, w.db.close())
		w.db = nil
	}
	if w.lock != nil {
		errs = append(errs, w.lock.Close())
		w.lock = nil
	}
	w.points, w.frames, w.locations = nil, nil, nil
	return errors.Join(errs...)
}

func (w *Writer) closeStatements() {
	for name, st := range w.prepared {
		_ = st.(driver.Stmt).Close()
		delete(w.prepared, name)
	}
}
