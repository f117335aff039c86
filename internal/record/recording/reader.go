package recording

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/klauspost/compress/zstd"
)

// Reader reads a recording and leaves it as it is. Of one that is being written
// every call sees what was committed last.
//
// Of a recording that is cut or damaged every call returns what can be read, in
// the order of writing, up to the first page that cannot, and no error: Damage
// says so. A Reader must not be used by two goroutines at once.
type Reader struct {
	path     string
	db       *database
	live     bool   // it was being written when this connection was made
	pages    *pages // of a finished recording; nil: SQLite opens the files itself
	scratch  string // a directory with a private copy, "" if there is none
	minor    int    // version
	damage   error
	redactor *redactor // nil: what is read is handed on as it is

	older     map[string][]string // its columns by table, where its minor version has fewer
	zstd      *zstd.Decoder
	processes []process
	frames    []sample.Frame // by row number, from 1
	locations []location
	metrics   []metric // by row number, from 1
	listed    listed
}

// listed is what was listed before, of a recording that is finished: there are
// many thousands of a long one, and each question asks for the list.
type listed struct {
	moments  []MomentInfo
	profiles map[sample.ProcessKey][]ProfileInfo
}

// Open opens a recording. The errors that a user can do something about are
// ErrNotRecording, ErrNewer, ErrCut, ErrDamaged and ErrForeign, and those of package os.
func Open(path string) (*Reader, error) {
	r := &Reader{path: path}
	var err error
	if r.zstd, err = newDecoder(); err == nil {
		err = r.attach()
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("open %s: %w", path, explained(err))
	}
	return r, nil
}

// explained says in our words what SQLite says of a foreign or damaged file.
func explained(err error) error {
	if damaged(err) {
		return fmt.Errorf("%w, or damaged beyond reading: %w", ErrNotRecording, err)
	}
	return err
}

// Again opens the same recording once more, for another goroutine: a Reader is for one. The error says why that cannot be:
// it is not finished, its path leads to another file by now, or what is read is redacted.
func (r *Reader) Again() (*Reader, error) {
	if r.pages == nil || r.redactor != nil {
		return nil, errOnce
	}
	other, err := Open(r.path)
	if err != nil {
		return nil, err
	}
	if other.pages == nil || !sameFile(r.pages.file, other.pages.file) {
		return nil, errors.Join(errOnce, other.Close())
	}
	return other, nil
}

var errOnce = errors.New("this recording can be opened once only")

func sameFile(a, b *os.File) bool {
	one, err1 := a.Stat()
	other, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// Close releases the recording.
func (r *Reader) Close() error {
	if r.zstd != nil {
		r.zstd.Close()
		r.zstd = nil
	}
	return r.detach()
}

func (r *Reader) detach() error {
	var errs []error
	if r.db != nil {
		errs = append(errs, r.db.close())
		r.db = nil
	}
	if r.pages != nil {
		errs = append(errs, r.pages.close())
		r.pages = nil
	}
	if r.scratch != "" {
		errs = append(errs, os.RemoveAll(r.scratch))
		r.scratch = ""
	}
	return errors.Join(errs...)
}

// Live says whether a Writer is at work on the recording now. Where it is not and
// Closed is false, the writer was killed or could not go on.
func (r *Reader) Live() bool { return r.live && locked(r.path+"-wal") }

// Refresh looks whether the recording is still being written, and if not, reads
// it from now on as what it has become. What was committed is seen without it.
func (r *Reader) Refresh() error {
	if locked(r.path+"-wal") == r.live {
		return nil
	}
	now := &Reader{path: r.path}
	if err := now.attach(); err != nil {
		return fmt.Errorf("read %s: %w", r.name(), explained(err))
	}
	err := r.detach()
	r.db, r.live, r.pages, r.scratch, r.minor, r.damage, r.older, r.listed = now.db, now.live, now.pages, now.scratch, now.minor, now.damage, now.older, listed{}
	return err
}

// Damage says what of the recording could not be read so far, nil if nothing. Of a
// recording with checksums nothing else can have been read wrongly.
func (r *Reader) Damage() error {
	if r.damage == nil && r.pages != nil && r.pages.wrong != nil {
		r.note(r.pages.wrong)
	}
	if r.damage != nil && r.redactor != nil {
		return errors.New(r.redactor.reason(r.damage.Error()))
	}
	return r.damage
}

// Protected says whether what is read is compared with checksums: not in a recording
// that is being written, was not finished, or is older than they are.
func (r *Reader) Protected() bool { return r.pages != nil && r.pages.sums != nil }

func (r *Reader) note(err error) {
	switch {
	case r.damage != nil:
	case r.pages != nil && r.pages.wrong != nil:
		r.damage = fmt.Errorf("%w: %w", ErrDamaged, r.pages.wrong)
	default:
		r.damage = err
	}
}

// rows is query on a file that may be damaged: what comes before the damage is
// handed on, and the damage noted. A function that misses what a row refers to
// returns an ErrMissing: that, too, is damage, and the end.
func (r *Reader) rows(each func(row []driver.Value) error, sql string, args ...driver.Value) error {
	return r.survive(r.db.query(each, sql, args...))
}

// survive notes an error that is damage, and returns any other.
func (r *Reader) survive(err error) error {
	if err == nil {
		return nil
	}
	if damaged(err) || errors.Is(err, ErrMissing) || errors.Is(err, errColumns) || errors.Is(err, errNumbers) || errors.Is(err, errMetrics) {
		r.note(fmt.Errorf("the recording is damaged: %w", err))
		return nil
	}
	return fmt.Errorf("read %s: %w", r.name(), err)
}

// name is the file as errors say it.
func (r *Reader) name() string {
	if r.redactor != nil {
		return filepath.Base(r.path)
	}
	return r.path
}

// Closed is when the Writer finished the recording; false if it has not.
func (r *Reader) Closed() (time.Time, bool) {
	var at time.Time
	err := r.meta(func(key, value string) {
		if ns, err := strconv.ParseInt(value, 10, 64); key == metaClosed && err == nil {
			at = wall(ns)
		}
	})
	return at, err == nil && !at.IsZero()
}

// Meta says where and how the recording was made.
func (r *Reader) Meta() (Meta, error) {
	m, err := r.rawMeta()
	if r.redactor != nil {
		m = r.redactor.meta(m)
	}
	return m, err
}

func (r *Reader) rawMeta() (Meta, error) {
	m := Meta{More: map[string]string{}}
	err := r.meta(func(key, value string) {
		switch n, _ := strconv.ParseInt(value, 10, 64); key {
		case metaTool:
			m.Tool = value
		case metaCommand:
			// Not an array of strings: not written by a Writer, and absent.
			_ = json.Unmarshal([]byte(value), &m.Command)
		case metaHost:
			m.Host = value
		case metaBootID:
			m.BootID = value
		case metaKernel:
			m.Kernel = value
		case metaCPUs:
			m.CPUs = int(n)
		case metaPageSize:
			m.PageSize = int(n)
		case metaLimit:
			m.Limit = sample.Some(sample.Bytes(n))
		case metaStarted:
			m.At = wall(n)
		case metaClosed, metaSealed:
		default:
			m.More[key] = value
		}
	})
	return m, err
}

func (r *Reader) meta(each func(key, value string)) error {
	return r.rows(func(row []driver.Value) error {
		key, _ := row[0].(string)
		value, _ := row[1].(string)
		each(key, value)
		return nil
	}, "SELECT key, value FROM meta")
}
