package recording

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// nativeSchema is the tables that only a recording has whose programs' C allocator was probed: since
// version 1.8.
const nativeSchema = `CREATE TABLE IF NOT EXISTS native_reading (
  id INTEGER PRIMARY KEY,
  at INTEGER, process INTEGER REFERENCES process, since INTEGER, sampled_every INTEGER, allocs INTEGER, frees INTEGER, lost INTEGER, ended TEXT
);
CREATE TABLE IF NOT EXISTS native_live (
  id INTEGER PRIMARY KEY,
  at INTEGER, process INTEGER REFERENCES process, stack TEXT, samples INTEGER, objects INTEGER, bytes INTEGER, error INTEGER, allocated INTEGER, oldest INTEGER, median INTEGER
)`

var (
	tableNativeReading = table{"native_reading", words(`at process since sampled_every allocs frees lost ended`)}
	tableNativeLive    = table{"native_live", words(`at process stack samples objects bytes error allocated oldest median`)}
)

// Native records C's live blocks: what is known of all stacks of a process, and those that have
// changed since the last time.
func (w *Writer) Native(head sample.NativeReading, list []sample.NativeLive) error {
	return w.write("live native bytes", func() error {
		if w.rows[tableNativeReading.name] == 0 {
			if err := w.db.exec(nativeSchema); err != nil {
				return err
			}
		}
		p, err := w.processOf(head.Process)
		if err != nil {
			return err
		}
		if _, err := w.add(&tableNativeReading, w.when(head.At), p.id, w.when(head.Since), int64(head.Interval),
			int64(head.Allocs), int64(head.Frees), int64(head.Lost), text(head.Ended)); err != nil {
			return err
		}
		for i := range list {
			if err := w.addNative(p.id, &list[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *Writer) addNative(process int64, l *sample.NativeLive) error {
	stack, err := w.stack(l.Where)
	if err != nil {
		return err
	}
	when := func(t time.Time) driver.Value {
		if t.IsZero() {
			return nil
		}
		return w.when(t)
	}
	_, err = w.add(&tableNativeLive, w.when(l.At), process, stack, int64(l.Samples), int64(l.Objects), int64(l.Bytes), int64(l.Error),
		int64(l.Allocated), when(l.Oldest), when(l.Median))
	return err
}

// maxNativeRows caps the stacks and the readings that are kept of a foreign file.
const maxNativeRows = 1 << 18

// NativeReadings are the readings of C's live blocks until an instant, by time. A recording without
// probes has none.
func (r *Reader) NativeReadings(until time.Time) (list []sample.NativeReading, err error) {
	if has, err := r.hasTable(tableNativeReading.name); !has || err != nil {
		return nil, err
	}
	err = r.rows(func(row []driver.Value) error {
		at := instantOf(row[1])
		if at.After(until) || len(list) == maxNativeRows {
			return nil
		}
		process, err := r.keyOf(row[2])
		if err != nil {
			return err
		}
		count := func(i int) uint64 { return uint64(max(0, integer(row[i]))) }
		list = append(list, sample.NativeReading{At: at, Process: process, Since: instantOf(row[3]), Interval: sample.Bytes(count(4)),
			Allocs: count(5), Frees: count(6), Lost: count(7), Ended: str(row[8])})
		return nil
	}, tableNativeReading.selFrom(tableNativeReading.name)+" ORDER BY id")
	return list, err
}

// NativeLive is what each stack had at the last reading until an instant, in the order in which
// they were met.
func (r *Reader) NativeLive(until time.Time) (list []sample.NativeLive, err error) {
	if has, err := r.hasTable(tableNativeLive.name); !has || err != nil {
		return nil, err
	}
	index := map[string]int{}
	err = r.rows(func(row []driver.Value) error {
		at := instantOf(row[1])
		if at.After(until) {
			return nil
		}
		key := fmt.Sprint(row[2], "/", row[3])
		i, known := index[key]
		if !known {
			l := sample.NativeLive{}
			if l.Process, err = r.keyOf(row[2]); err == nil {
				l.Where, err = r.stack(str(row[3]))
			}
			if err != nil || len(list) == maxNativeRows {
				return err
			}
			i = len(list)
			index[key] = i
			list = append(list, l)
		}
		l := &list[i]
		count := func(i int) uint64 { return uint64(max(0, integer(row[i]))) }
		l.At, l.Samples, l.Objects, l.Bytes, l.Error, l.Allocated = at, count(4), count(5), sample.Bytes(count(6)), sample.Bytes(count(7)), sample.Bytes(count(8))
		l.Oldest, l.Median = instantOf(row[9]), instantOf(row[10])
		return nil
	}, tableNativeLive.selFrom(tableNativeLive.name)+" ORDER BY id")
	return list, err
}

// checkNative reads all of it; a stack whose locations are missing is damage.
func (r *Reader) checkNative() error {
	end := time.Unix(1<<40, 0)
	if _, err := r.NativeReadings(end); err != nil {
		return err
	}
	_, err := r.NativeLive(end)
	return err
}
