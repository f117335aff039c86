package recording

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ErrUnfinished is what Verify returns for a recording that is sound, but that no
// Writer has closed: it is being written, or its writer was killed.
var ErrUnfinished = errors.New("the recording was not finished")

// Verify checks a whole recording: the checksums of its pages, SQLite's own
// structure, that rows have no holes and times ascend, every reference resolves,
// every profile decodes and every hash is the hash of its content. It returns the
// first thing that is wrong.
func Verify(path string) error {
	_, err := Check(path)
	return err
}

// Checked is what Check has read.
type Checked struct {
	Protected bool  // every page was compared with its checksum
	Pages     int64 // so many; 0 if there are no checksums
	Rows      int64 // of all tables
}

// Check is Verify, and says what was checked.
func Check(path string) (c Checked, err error) {
	r, err := Open(path)
	if err != nil {
		return c, err
	}
	defer r.Close()
	c.Protected = r.Protected()
	if c.Protected {
		c.Pages = r.pages.sums.pages()
	}
	count := func() error { return r.numbered(&c.Rows) }
	for _, check := range []func() error{r.checkPages, r.integrity, count, r.ascending, r.hashes, r.everything, r.checkAsked, r.checkHeaps, r.checkGrowth,
		r.checkNative, r.profiles, r.Damage} {
		if err := check(); err != nil {
			return c, fmt.Errorf("verify %s: %w", path, err)
		}
	}
	if _, closed := r.Closed(); !closed {
		return c, fmt.Errorf("verify %s: %w", path, ErrUnfinished)
	}
	return c, nil
}

// checkPages compares every page with its checksum.
func (r *Reader) checkPages() error {
	if r.pages != nil {
		if err := r.pages.check(); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return nil
}

// numbered counts the rows of all tables that have numbers, and checks that these
// have no holes.
func (r *Reader) numbered(rows *int64) error {
	for name := range ours() {
		if has, err := r.hasTable(name); name == "meta" || !has || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		err := r.db.query(func(row []driver.Value) error {
			n, first, last := integer(row[0]), integer(row[1]), integer(row[2])
			*rows += n
			if n > 0 && (first != 1 || last != n) {
				return fmt.Errorf("table %s: %d rows have the numbers %d to %d", name, n, first, last)
			}
			return nil
		}, "SELECT count(*), min(id), max(id) FROM "+name)
		if err != nil {
			return err
		}
	}
	return nil
}

// integrity runs SQLite's check and looks for references to rows that are not.
func (r *Reader) integrity() error {
	if err := r.Damage(); err != nil {
		return err
	}
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		err := r.db.query(func(row []driver.Value) error {
			if len(row) == 1 && row[0] == "ok" {
				return nil
			}
			return fmt.Errorf("%s: %v", pragma, row)
		}, "PRAGMA "+pragma)
		if err != nil {
			return err
		}
	}
	return nil
}

// ascending checks the order of time where the recording promises it, and that a
// process has one row a point at most.
func (r *Reader) ascending() error {
	last := int64(-1 << 63)
	err := r.db.query(func(row []driver.Value) error {
		if at := integer(row[1]); row[1] == nil || at <= last {
			return fmt.Errorf("sample %v: time %v is not after %d", row[0], row[1], last)
		}
		last = integer(row[1])
		return nil
	}, "SELECT id, at FROM sample ORDER BY id")
	if err != nil {
		return err
	}
	return r.db.query(func(row []driver.Value) error {
		return fmt.Errorf("process_sample %v: no sample at its time, or not after the row before", row[0])
	}, `SELECT p.id FROM process_sample p JOIN process_sample before ON before.id = p.id - 1
		WHERE before.at > p.at OR before.at = p.at AND before.process = p.process LIMIT 1`)
}

// hashes computes the hashes of frames and sites again.
func (r *Reader) hashes() error {
	if err := r.loadLocations(); err != nil {
		return err
	}
	err := r.db.query(func(row []driver.Value) error {
		want := frameDigest(r.frames[integer(row[0])-1])
		if got, _ := row[1].([]byte); !bytes.Equal(got, want[:]) {
			return fmt.Errorf("frame %v: hash %x, want %x", row[0], got, want)
		}
		return nil
	}, "SELECT id, hash FROM frame WHERE id <= ?1", int64(len(r.frames)))
	if err != nil {
		return err
	}
	return r.db.query(func(row []driver.Value) error {
		stack, err := r.stack(str(row[3]))
		if err != nil {
			return fmt.Errorf("site %v: %w", row[0], err)
		}
		want := siteDigest(sample.Site{Stack: stack, Size: sample.Bytes(integer(row[2]))})
		if got, _ := row[1].([]byte); !bytes.Equal(got, want[:]) {
			return fmt.Errorf("site %v: hash %x, want %x", row[0], got, want)
		}
		return nil
	}, "SELECT id, hash, size, stack FROM site")
}

// everything reads what there is; a reference that leads nowhere is damage.
func (r *Reader) everything() error {
	programs, err := r.Programs()
	if err != nil {
		return err
	}
	for _, p := range programs {
		if _, err := r.Sites(p.Key); err != nil {
			return err
		}
		if _, err := r.Cycles(p.Key); err != nil {
			return err
		}
	}
	_, eventErr := r.Events()
	_, gapErr := r.Gaps()
	seen := 0
	pointErr := r.Points(func(p *sample.Point) error { seen += len(p.Processes); return nil })
	if err := errors.Join(eventErr, gapErr, pointErr); err != nil {
		return err
	}
	if n, err := r.db.integer("SELECT count(*) FROM process_sample"); err != nil || n != int64(seen) {
		return fmt.Errorf("%d of %d rows of process_sample belong to a sample: %w", seen, n, errors.Join(ErrMissing, err))
	}
	moments, err := r.Moments()
	for _, m := range moments {
		if _, err := r.Moment(m.ID); err != nil {
			return err
		}
	}
	return err
}

// profiles decodes every profile and counts its sites.
func (r *Reader) profiles() error {
	var ids []int64
	sites := map[int64]int64{}
	err := r.db.query(func(row []driver.Value) error {
		ids = append(ids, integer(row[0]))
		sites[integer(row[0])] = integer(row[1])
		return nil
	}, `SELECT h.id, (SELECT count(*) FROM site s WHERE s.process = h.process) FROM heap_profile h`)
	if err != nil {
		return err
	}
	for _, id := range ids {
		p, err := r.Profile(id)
		if err != nil {
			return err
		}
		if int64(len(p.Counts)) > sites[id] {
			return fmt.Errorf("heap profile %d has %d sites, of which %d were announced", id, len(p.Counts), sites[id])
		}
	}
	return nil
}
