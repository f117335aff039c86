package recording

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Series is columns of the table sample or process_sample, one element a row, in
// the order of time. What was not seen is NaN. A float64 holds bytes and
// nanoseconds below 2^53 exactly.
type Series struct {
	At      []int64 // UTC nanoseconds
	columns map[string][]float64
}

// Column is a column that the Series was loaded with; nil for any other. It has as many
// elements as At.
func (s *Series) Column(c Column) []float64 { return s.columns[c.name] }

// Len is the number of rows.
func (s *Series) Len() int { return len(s.At) }

// Samples loads columns of the table sample: ColUsage, ColPageCache, ...
func (r *Reader) Samples(columns ...Column) (*Series, error) {
	return r.series(&tableSample, columns, "")
}

// ProcessSamples loads columns of the table process_sample for one process, all
// programs that it ran: ColResident, ColHeapLive, ...
func (r *Reader) ProcessSamples(key sample.ProcessKey, columns ...Column) (*Series, error) {
	where, err := r.whereProcess(key)
	if err != nil {
		return nil, err
	}
	return r.series(&tableProcessSample, columns, where)
}

func (r *Reader) series(t *table, columns []Column, where string) (*Series, error) {
	return r.seriesOf(t, columns, t.name+where+" ORDER BY id")
}

// seriesOf reads columns of a table from what stands after FROM.
func (r *Reader) seriesOf(t *table, columns []Column, from string) (*Series, error) {
	s := &Series{columns: map[string][]float64{}}
	lists := make([][]float64, len(columns))
	read := []string{"at", "NULL"}
	if r.has(t.name, "unchanged") {
		read[1] = "unchanged"
	}
	for _, c := range columns {
		value, err := r.valueOf(t, c)
		if err != nil {
			return nil, err
		}
		read = append(read, value)
	}
	var unchanged []int64
	err := r.rows(func(row []driver.Value) error {
		s.At, unchanged = append(s.At, integer(row[0])), append(unchanged, integer(row[1]))
		for i, v := range row[2:] {
			lists[i] = append(lists[i], number(v))
		}
		return nil
	}, "SELECT "+strings.Join(read, ", ")+" FROM "+from)
	for i, c := range columns {
		s.columns[c.name] = lists[i]
	}
	s.fill(unchanged)
	return s, err
}

func number(v driver.Value) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// Points hands over every point in full, in the order of time.
func (r *Reader) Points(each func(*sample.Point) error) error {
	return r.points(each, 0, math.MaxInt64)
}

// PointAt is the last point at or before a time.
func (r *Reader) PointAt(at time.Time) (*sample.Point, error) {
	id, err := r.firstAt(tableSample.name, at.UnixNano()+1)
	if err != nil {
		return nil, err
	}
	id-- // the one before
	var point *sample.Point
	err = r.points(func(p *sample.Point) error {
		point = p
		return nil
	}, id, id)
	if err == nil && point == nil {
		err = fmt.Errorf("sample at %s: %w", at.Format("15:04:05"), ErrMissing)
	}
	return point, err
}

// points reads the rows of sample from one number to another, and with each the
// rows of process_sample that belong to it: both tables are in the order of time.
func (r *Reader) points(each func(*sample.Point) error, from, to int64) error {
	var processes *cursor
	var waiting []driver.Value // the row of process_sample that comes next
	defer func() {
		if processes != nil {
			processes.close()
		}
	}()
	return r.rows(func(row []driver.Value) (err error) {
		at := integer(row[1])
		if processes == nil {
			first, err := r.firstAt(tableProcessSample.name, at)
			if err != nil {
				return err
			}
			processes, err = r.db.open(r.sel(&tableProcessSample)+" WHERE id >= ?1 ORDER BY id", first)
			if err != nil {
				return err
			}
			if waiting, err = processes.next(); err != nil {
				return err
			}
		}
		p := pointRow(row[1:])
		for waiting != nil && integer(waiting[1]) == at {
			process, err := r.processSample(waiting[2:])
			if err != nil {
				return err
			}
			p.Processes = append(p.Processes, process)
			if waiting, err = processes.next(); err != nil {
				return err
			}
		}
		return each(p)
	}, r.sel(&tableSample)+" WHERE id BETWEEN ?1 AND ?2 ORDER BY id", from, to)
}

func pointRow(row []driver.Value) *sample.Point {
	p := &sample.Point{At: instantOf(row[0])}
	p.Cgroup, row = takeCgroup(row[1:])
	p.Pressure, row = take(row, pressureColumns)
	p.Host, _ = take(row, hostColumns)
	return p
}

func (r *Reader) processSample(row []driver.Value) (p sample.Process, err error) {
	p.Key, err = r.keyOf(row[0])
	p.Resident, row = take(row[1:], residentColumns)
	p.Go, _ = take(row, runtimeColumns)
	return p, err
}

// takeCgroup reads what putCgroup wrote.
func takeCgroup(row []driver.Value) (*sample.Cgroup, []driver.Value) {
	g, row := take(row, cgroupColumns)
	stat, row := take(row, statColumns)
	events, row := take(row, eventsColumns)
	if g != nil {
		g.Stat, g.Events = stat, events
	}
	return g, row
}
