package recording

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// SamplesAbout is Samples of at most about so many rows: all of them where there
// are no more, else nine tenths evenly over the recording, and the last tenth
// without a hole up to its end.
func (r *Reader) SamplesAbout(most int64, columns ...Column) (*Series, error) {
	from, err := r.picked(&tableSample, most, 1)
	if err != nil {
		return nil, err
	}
	return r.seriesOf(&tableSample, columns, from)
}

// ProcessSamplesAbout is the same of ProcessSamples. Its times need not be those of
// SamplesAbout, but are at most a row of it apart.
func (r *Reader) ProcessSamplesAbout(most int64, key sample.ProcessKey, columns ...Column) (*Series, error) {
	where, err := r.whereProcess(key)
	if err != nil {
		return nil, err
	}
	from, err := r.pickedOfProcesses(most)
	if err != nil {
		return nil, err
	}
	return r.seriesOf(&tableProcessSample, columns, from+where)
}

// ResidentAbout is ProcessSamplesAbout of every process, the columns ColResident, ColAnonymous, ColUserTime
// and ColSystemTime, in one pass: of thousands of processes a pass each would take minutes.
func (r *Reader) ResidentAbout(most int64) (map[sample.ProcessKey]*Series, error) {
	from, err := r.pickedOfProcesses(most)
	if err != nil {
		return nil, err
	}
	looks := "NULL"
	if r.has(tableProcessSample.name, "unchanged") {
		looks = "unchanged"
	}
	columns := []string{ColResident.name, ColAnonymous.name, ColUserTime.name, ColSystemTime.name}
	all, unchanged := map[sample.ProcessKey]*Series{}, map[sample.ProcessKey][]int64{}
	err = r.rows(func(row []driver.Value) error {
		key, err := r.keyOf(row[1])
		if err != nil {
			return err
		}
		s := all[key]
		if s == nil {
			s = &Series{columns: map[string][]float64{}}
			all[key] = s
		}
		s.At = append(s.At, integer(row[0]))
		for i, name := range columns {
			s.columns[name] = append(s.columns[name], number(row[3+i]))
		}
		unchanged[key] = append(unchanged[key], integer(row[2]))
		return nil
	}, "SELECT at, process, "+looks+", resident, "+ColAnonymous.sql()+", user_time, system_time FROM "+from)
	for key, s := range all {
		s.fill(unchanged[key])
	}
	return all, err
}

// pickedOfProcesses is what to read of process_sample for about so many rows of each
// process that lives all the time.
func (r *Reader) pickedOfProcesses(most int64) (string, error) {
	ticks, err := r.lastRow(tableSample.name)
	if err != nil {
		return "", err
	}
	rows, err := r.lastRow(tableProcessSample.name)
	if err != nil {
		return "", err
	}
	each := max(1, min(rows/max(1, ticks), mostAlive))
	together := 2 * (rows/max(1, ticks) + 1) // the rows of two ticks hold one of each process
	return r.picked(&tableProcessSample, most*each, together)
}

// mostAlive bounds what is read of a recording of very many processes at once: of
// more than so many each has fewer rows.
const mostAlive = 10

// Ticks is the number of samples, as of SamplesAbout; 0 where it cannot be told.
func (r *Reader) Ticks() (int64, error) { return r.lastRow(tableSample.name) }

// CyclesAbout is the same of Cycles; those that were passed over count as missed.
func (r *Reader) CyclesAbout(most int64, key sample.ProcessKey) ([]sample.GCCycle, error) {
	from, err := r.picked(&tableCycle, most, 4)
	if err != nil {
		return nil, err
	}
	list, err := r.cyclesOf(key, from)
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1].N, list[i].N; b > a {
			list[i].Missed = b - a - 1
		}
	}
	return list, err
}

// whereProcess selects the rows of all programs that a process ran.
func (r *Reader) whereProcess(key sample.ProcessKey) (string, error) {
	if err := r.loadProcesses(); err != nil {
		return "", err
	}
	var ids []string
	for i, p := range r.processes {
		if p.program.Key == key {
			ids = append(ids, fmt.Sprint(i+1))
		}
	}
	return " WHERE process IN (" + strings.Join(ids, ", ") + ")", nil
}

// picked is what to read of a table from, after FROM: the table itself, or rows of
// it, so many together and then a step. Row numbers have no holes.
func (r *Reader) picked(t *table, most, together int64) (string, error) {
	last, err := r.lastRow(t.name)
	if err != nil || last <= most {
		return t.name, err
	}
	dense := last - most/10
	step := max(together+1, int64(float64(last)*float64(together)*10/float64(9*most)))
	return t.at(func(yield func(place int64)) {
		for place := int64(1); place < dense; place += step {
			for n := place; n < min(place+together, dense); n++ {
				yield(n)
			}
		}
		for place := dense; place <= last; place++ {
			yield(place)
		}
	}), nil
}

// at is the rows with the given numbers, after FROM and in that order. A list of
// numbers is several times as fast to read by as a recursive query is.
func (t *table) at(each func(yield func(place int64))) string {
	list := []byte("(SELECT value AS place FROM json_each('[")
	empty := len(list)
	each(func(place int64) {
		if len(list) > empty {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, place, 10)
	})
	return string(list) + "]')) CROSS JOIN " + t.name + " ON id = place"
}

// lastRow is the number of rows of a table; 0 where it cannot be told, as the file
// is cut. Of a table whose numbers have holes, which no Writer makes, it is the last
// row before one of them.
func (r *Reader) lastRow(name string) (n int64, err error) {
	err = r.rows(func(row []driver.Value) error {
		n = integer(row[0])
		return nil
	}, "SELECT max(id) FROM "+name)
	if err != nil || n <= r.mostRows() {
		return n, err
	}
	r.note(fmt.Errorf("%w: table %s has a row number %d", ErrDamaged, name, n))
	return r.before(name, n)
}

// smallestRow is how many bytes of the file a row takes at least: its length, its
// number, a header of a byte for itself and one for each of two columns, and its
// place in the page (sqlite.org/fileformat2.html, "B-tree Pages").
const smallestRow = 6

// mostRows is how many rows a table of the recording can have.
func (r *Reader) mostRows() int64 {
	var bytes int64
	for _, name := range []string{"page_count", "page_size"} {
		n, err := r.db.integer("PRAGMA " + name)
		if err != nil {
			return 0
		}
		if bytes == 0 {
			bytes = n
		} else {
			bytes *= n
		}
	}
	return bytes / smallestRow
}

// before finds a row below number n after which one is missing, in steps of halves.
func (r *Reader) before(name string, n int64) (int64, error) {
	low, high := int64(0), n // low is there, or none is; after high one is missing
	for high-low > 1 {
		middle, found := low+(high-low)/2, false
		err := r.rows(func([]driver.Value) error {
			found = true
			return nil
		}, "SELECT id FROM "+name+" WHERE id = ?1", middle)
		if err != nil {
			return 0, err
		}
		if found {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// firstAt is the number of a table's first row at or after a time: the times
// ascend with the row numbers.
func (r *Reader) firstAt(name string, at int64) (int64, error) {
	low, err := r.lastRow(name)
	high := low + 1
	for low = 1; low < high && err == nil; {
		middle, later := low+(high-low)/2, true // what the file has lost is later
		err = r.rows(func(row []driver.Value) error {
			later = integer(row[0]) >= at
			return nil
		}, "SELECT at FROM "+name+" WHERE id = ?1", middle)
		if later {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, err
}

// SamplesBetween is SamplesAbout of the time from from to to: all rows of it where
// they are no more, else so many evenly. One row before and after is among them,
// so that a line drawn through them does not end within.
func (r *Reader) SamplesBetween(from, to time.Time, most int64, columns ...Column) (*Series, error) {
	rows, err := r.between(&tableSample, from, to, most, 1)
	if err != nil {
		return nil, err
	}
	return r.seriesOf(&tableSample, columns, rows)
}

// ProcessSamplesBetween is the same of ProcessSamples.
func (r *Reader) ProcessSamplesBetween(from, to time.Time, most int64, key sample.ProcessKey, columns ...Column) (*Series, error) {
	where, err := r.whereProcess(key)
	if err != nil {
		return nil, err
	}
	ticks, err := r.lastRow(tableSample.name)
	if err != nil {
		return nil, err
	}
	rows, err := r.lastRow(tableProcessSample.name)
	if err != nil {
		return nil, err
	}
	each := rows/max(1, ticks) + 1 // rows of one tick
	picked, err := r.between(&tableProcessSample, from, to, most*each, each)
	if err != nil {
		return nil, err
	}
	return r.seriesOf(&tableProcessSample, columns, picked+where)
}

// between is what to read of a table from, after FROM: the rows of a stretch of
// time, so many together and then a step.
func (r *Reader) between(t *table, from, to time.Time, most, together int64) (string, error) {
	first, err := r.firstAt(t.name, from.UnixNano())
	if err != nil {
		return "", err
	}
	end, err := r.firstAt(t.name, to.UnixNano()+1)
	if err != nil {
		return "", err
	}
	first, end = max(1, first-together), end+together // end is not in it
	step := max(together, int64(float64(end-first)*float64(together)/float64(max(1, most))))
	return t.at(func(yield func(place int64)) {
		for place := first; place < end; place += step {
			for n := place; n < min(place+together, end); n++ {
				yield(n)
			}
		}
	}), nil
}
