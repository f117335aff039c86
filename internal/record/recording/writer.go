package recording

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/klauspost/compress/zstd"
)

// Writer appends to a recording. What it was given is on the disk after the next
// Flush, or with the first call that comes a second after the last commit: while
// calls keep coming, a killed writer loses no more than that second.
//
// The first error ends the recording: it is returned once, the file stays
// readable up to the last commit, and every later call but Close returns
// ErrClosed. A Writer must not be used by two goroutines at once.
type Writer struct {
	path     string
	db       *database // nil: closed, or ended by an error
	lock     *os.File  // held while writing, so that readers know
	prepared map[string]driver.StmtExecContext
	rows     map[string]int64 // the last row number of each table
	*scratch                  // of an open transaction

	begun     bool // a transaction is open
	lastSync  time.Time
	committed time.Time // when the last transaction was

	meta   Meta
	last   int64   // time of the last point
	points []*held // points[:queued] wait for the next commit
	queued int
	moved  bool // one of those that wait is of a program that does not rest
	resting
	sleeper sleeper

	process   map[sample.ProcessKey]*processState
	framed    []*processState // those with a key frame, oldest first
	kept      int             // counts in their frames, and the most of them
	keepMost  int
	frames    map[sample.Frame]frameRow
	locations map[digest]int64
	metrics   map[string]int64 // row numbers by name
	asked     askedState
	heapNames map[string]int64 // row numbers by name; nil: no heap yet
	zstd      *zstd.Encoder
}

// processState is what the writer knows of one process: its newest row in the
// table process, and what the next heap profile is written against.
type processState struct {
	id    int64
	sites int
	frame keyFrame
}

// frameRow is a frame's row, and the digest that sites need of it again.
type frameRow struct {
	id   int64
	hash digest
}

// commitEvery bounds what a killed writer loses.
const commitEvery = time.Second

// Create makes a new recording. It refuses a path where something is already
// (os.ErrExist), and leaves nothing where it fails. A disk without room is an
// ErrFull.
func Create(path string, meta Meta) (*Writer, error) {
	if meta.At.IsZero() {
		meta.At = time.Now()
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create recording: %w", err)
	}
	blank := blankFile.Load()
	if blank != nil {
		_, err = f.Write(*blank)
	}
	err = errors.Join(err, f.Close())
	w := &Writer{
		path: path, meta: meta,
		prepared:  map[string]driver.StmtExecContext{},
		rows:      map[string]int64{},
		process:   map[sample.ProcessKey]*processState{},
		keepMost:  keptCounts,
		frames:    map[sample.Frame]frameRow{},
		locations: map[digest]int64{},
		metrics:   map[string]int64{},
	}
	if err == nil {
		err = w.create(blank != nil)
	}
	if err != nil {
		err = whyFull(path, err)
		w.abandon()
		for _, name := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
			os.Remove(name)
		}
		return nil, fmt.Errorf("create recording %s: %w", path, err)
	}
	return w, nil
}

// blankFile is a recording in which nothing stands yet but its schema, as the first Writer of
// this process made it; nil: none has. To make the tables anew for each of a hundred
// recordings took longer than to attach to their programs.
var blankFile atomic.Pointer[[]byte]

// create writes the schema, unless the file is blankFile already, and the meta rows, turns to
// WAL, and takes the lock.
func (w *Writer) create(blank bool) (err error) {
	if w.zstd, err = encoder(); err != nil {
		return err
	}
	if !blank {
		if err := w.createBlank(); err != nil {
			return err
		}
	}
	if w.db, err = openDatabase(w.path, "mode=rw", writing...); err != nil {
		return err
	}
	if err := w.writeMeta(); err != nil {
		return err
	}
	w.lock, err = lock(w.path + "-wal")
	return err
}

// writing are the pragmas of a connection that writes.
var writing = []string{"cache_size = -160", "busy_timeout = 2000", "journal_mode = WAL", "synchronous = NORMAL"}

// createBlank writes the schema into the file, and keeps it as blankFile: turned to WAL, which
// is a mark in the file, so that the next takes no transaction before its first row.
func (w *Writer) createBlank() error {
	db, err := openDatabase(w.path, "mode=rw",
		"page_size = 4096", "cache_size = -512", "busy_timeout = 2000",
		fmt.Sprintf("application_id = %d", applicationID),
		fmt.Sprintf("user_version = %d", Major*1000+Minor))
	if err != nil {
		return err
	}
	err = db.exec("BEGIN; " + schema + " COMMIT;")
	if err == nil {
		err = db.exec("PRAGMA journal_mode = WAL")
	}
	if err = errors.Join(err, db.close()); err != nil {
		return err
	}
	if made, err := os.ReadFile(w.path); err == nil {
		blankFile.Store(&made)
	}
	return nil
}

func (w *Writer) writeMeta() error {
	command, err := json.Marshal(w.meta.Command)
	if err != nil {
		return err
	}
	rows := [][2]string{
		{metaTool, w.meta.Tool}, {metaHost, w.meta.Host}, {metaBootID, w.meta.BootID}, {metaKernel, w.meta.Kernel},
		{metaCPUs, strconv.Itoa(w.meta.CPUs)}, {metaPageSize, strconv.Itoa(w.meta.PageSize)},
		{metaStarted, strconv.FormatInt(w.meta.At.UnixNano(), 10)},
	}
	if w.meta.Command != nil {
		rows = append(rows, [2]string{metaCommand, string(command)})
	}
	if w.meta.Limit.OK {
		rows = append(rows, [2]string{metaLimit, strconv.FormatUint(uint64(w.meta.Limit.V), 10)})
	}
	for key, value := range w.meta.More {
		rows = append(rows, [2]string{key, value})
	}
	if err := w.begin(); err != nil {
		return err
	}
	for _, r := range rows {
		if err := w.setMeta(r[0], r[1]); err != nil {
			return err
		}
	}
	return w.commit()
}

// SetMeta writes a row of the table meta, in place of one with the same key.
func (w *Writer) SetMeta(key, value string) error {
	return w.write("meta", func() error { return w.setMeta(key, value) })
}

func (w *Writer) setMeta(key, value string) error {
	return w.db.exec("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2", key, value)
}

// Bound has the recording end, as on a full disk, before its file has more than n bytes.
// Its log, which is small, comes on top of it.
func (w *Writer) Bound(n sample.Bytes) error {
	return w.write("bound", func() error {
		w.sleeper.most = n
		return w.bound(n)
	})
}

// Flush commits everything that was given so far.
func (w *Writer) Flush() error {
	if w.db == nil {
		return ErrClosed
	}
	if w.canWait() {
		return nil
	}
	if err := w.flush(); err != nil {
		return w.end(err)
	}
	return nil
}

func (w *Writer) flush() error {
	slept := w.sleeper.asleep
	if err := w.writePoints(); err != nil {
		return err
	}
	if err := w.commit(); err != nil || !w.resting.known || w.sleeper.asleep {
		return err
	}
	if slept {
		return w.sleep() // to say that nothing is new it was woken for this alone
	}
	return w.run("PRAGMA shrink_memory") // of a hundred recordings that rest the caches would add up
}

// Close commits, marks the recording as finished and leaves a single file. After
// an error it only releases what is left.
//
// Where another process is reading the recording at that moment, an empty file
// NAME-wal may stay beside it; it holds nothing.
func (w *Writer) Close() error {
	if w.db == nil {
		return nil
	}
	closed := w.at(time.Now())
	err := errors.Join(w.SetMeta(metaClosed, strconv.FormatInt(closed, 10)), w.SetMeta(metaSealed, sealMeta))
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return w.end(err)
	}
	if err := w.abandon(); err != nil {
		return err
	}
	return w.seal()
}

// seal adds the checksums to a recording that is one file now.
func (w *Writer) seal() error {
	if left, err := fileSize(w.path + "-wal"); err == nil && left > 0 {
		return nil // a reader was in the way: not finished, as one whose writer was killed
	}
	if err := Seal(w.path); err != nil {
		return fmt.Errorf("write recording %s: %w", w.path, whyFull(w.path, err))
	}
	return nil
}

// finish brings the WAL into the file and turns back to a rollback journal, which
// removes the WAL. That needs every reader gone: else an emptied WAL remains.
func (w *Writer) finish() error {
	w.closeStatements()
	if err := w.db.exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return err
	}
	if err := w.db.exec("PRAGMA journal_mode = DELETE"); err != nil && !busy(err) {
		return err
	}
	return nil
}

// add inserts a row and returns its number.
func (w *Writer) add(t *table, values ...driver.Value) (int64, error) {
	st := w.prepared[t.name]
	if st == nil {
		var err error
		if st, err = w.prepare(t.name, t.insert()); err != nil {
			return 0, err
		}
	}
	w.named = named(w.named, values)
	result, err := st.ExecContext(background, w.named)
	if err != nil {
		return 0, fmt.Errorf("table %s: %w", t.name, err)
	}
	id, err := result.LastInsertId()
	w.rows[t.name] = id
	return id, err
}

// run runs a statement that is needed again and again and has no arguments.
func (w *Writer) run(sql string) error {
	st := w.prepared[sql]
	if st == nil {
		var err error
		if st, err = w.prepare(sql, sql); err != nil {
			return err
		}
	}
	_, err := st.ExecContext(background, nil)
	return err
}

func (w *Writer) prepare(name, sql string) (driver.StmtExecContext, error) {
	st, err := w.db.prepare(sql)
	if err == nil {
		w.prepared[name] = st
	}
	return st, err
}

// at is a time in UTC nanoseconds on the recording's own clock: the wall clock at
// its start, and from there the monotonic clock where the time carries it.
func (w *Writer) at(t time.Time) int64 {
	return w.meta.At.UnixNano() + int64(t.Sub(w.meta.At))
}

// when is at, NULL for the zero time.
func (w *Writer) when(t time.Time) driver.Value {
	if t.IsZero() {
		return nil
	}
	return w.at(t)
}
