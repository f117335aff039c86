package recording

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// askedSchema are the tables that only a recording has whose watch asked the
// program itself something: since version 1.1.
const askedSchema = `CREATE TABLE IF NOT EXISTS request (
  id INTEGER PRIMARY KEY,
  at INTEGER, waited INTEGER, took INTEGER, status INTEGER, failure TEXT
);
CREATE TABLE IF NOT EXISTS figure (
  id INTEGER PRIMARY KEY,
  name TEXT, kind TEXT
);
CREATE TABLE IF NOT EXISTS figure_sample (
  id INTEGER PRIMARY KEY,
  at INTEGER, figure INTEGER REFERENCES figure, value REAL
)`

var (
	tableRequest      = table{"request", words(`at waited took status failure`)}
	tableFigure       = table{"figure", words(`name kind`)}
	tableFigureSample = table{"figure_sample", words(`at figure value`)}
	askedTables       = []table{tableRequest, tableFigure, tableFigureSample}
)

// askedState is what a Writer knows of those tables.
type askedState struct {
	made    bool
	figures map[string]int64 // row numbers by name
}

// Request records a request of the probe. They come in the order in which they
// ended.
func (w *Writer) Request(r sample.Request) error {
	return w.write("request", func() error {
		if err := w.makeAsked(); err != nil {
			return err
		}
		var status driver.Value
		if r.Status != 0 {
			status = int64(r.Status)
		}
		_, err := w.add(&tableRequest, w.at(r.Due), int64(r.Waited), int64(r.Took), status, text(r.Failure))
		return err
	})
}

// Figure records a figure that the program publishes.
func (w *Writer) Figure(f sample.Figure) error {
	return w.write("figure", func() error {
		if err := w.makeAsked(); err != nil {
			return err
		}
		id, known := w.asked.figures[f.Name]
		if !known {
			var err error
			if id, err = w.add(&tableFigure, f.Name, string(f.Kind)); err != nil {
				return err
			}
			w.asked.figures[f.Name] = id
		}
		_, err := w.add(&tableFigureSample, w.at(f.At), id, f.Value)
		return err
	})
}

func (w *Writer) makeAsked() error {
	if w.asked.made {
		return nil
	}
	if err := w.db.exec(askedSchema); err != nil {
		return err
	}
	w.asked = askedState{made: true, figures: map[string]int64{}}
	return nil
}

// RequestsAbout are the requests of the probe, in the order in which they ended:
// all of them where there are no more than most, else so many, thinned as
// SamplesAbout thins; all is how many there are. A recording without a probe has
// none.
func (r *Reader) RequestsAbout(most int64) (list []sample.Request, all int64, err error) {
	if has, err := r.hasTable(tableRequest.name); !has || err != nil {
		return nil, 0, err
	}
	if all, err = r.lastRow(tableRequest.name); err != nil {
		return nil, 0, err
	}
	from, err := r.picked(&tableRequest, most, 1)
	if err != nil {
		return nil, 0, err
	}
	err = r.rows(func(row []driver.Value) error {
		q := sample.Request{Due: instantOf(row[1]), Waited: time.Duration(integer(row[2])), Took: time.Duration(integer(row[3])),
			Status: int(integer(row[4])), Failure: str(row[5])}
		if r.redactor != nil {
			q.Failure = r.redactor.reason(q.Failure)
		}
		list = append(list, q)
		return nil
	}, tableRequest.selFrom(from))
	return list, all, err
}

// FiguresAbout are the figures that the program published, in the order in which
// they were read, thinned as RequestsAbout thins.
func (r *Reader) FiguresAbout(most int64) (list []sample.Figure, err error) {
	if has, err := r.hasTable(tableFigure.name); !has || err != nil {
		return nil, err
	}
	names, err := r.figureNames()
	if err != nil {
		return nil, err
	}
	from, err := r.picked(&tableFigureSample, most, 2*int64(len(names)+1))
	if err != nil {
		return nil, err
	}
	err = r.rows(func(row []driver.Value) error {
		n := integer(row[2])
		if n < 1 || n > int64(len(names)) {
			return fmt.Errorf("row %d of table figure: %w", n, ErrMissing)
		}
		f := names[n-1]
		f.At = instantOf(row[1])
		f.Value, _ = row[3].(float64)
		list = append(list, f)
		return nil
	}, tableFigureSample.selFrom(from))
	return list, err
}

func (r *Reader) figureNames() (list []sample.Figure, err error) {
	err = r.rows(func(row []driver.Value) error {
		list = append(list, sample.Figure{Name: str(row[1]), Kind: sample.FigureKind(str(row[2]))})
		return nil
	}, tableFigure.selFrom(tableFigure.name)+" ORDER BY id")
	return list, err
}

// MomentTimes are all moments with nothing but when they were and how long they
// took.
func (r *Reader) MomentTimes() (list []sample.Moment, err error) {
	err = r.rows(func(row []driver.Value) error {
		list = append(list, sample.Moment{At: instantOf(row[0]), Took: time.Duration(integer(row[1])), Stopped: time.Duration(integer(row[2]))})
		return nil
	}, "SELECT at, took, stopped FROM moment ORDER BY id")
	return list, err
}

// selFrom is all columns of the table, read from what stands after FROM.
func (t table) selFrom(from string) string {
	return "SELECT id, " + strings.Join(t.columns, ", ") + " FROM " + from
}

// hasTable says whether the recording has a table that not every one has. One that
// is being written may get it later.
func (r *Reader) hasTable(name string) (found bool, err error) {
	err = r.rows(func([]driver.Value) error {
		found = true
		return nil
	}, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?1", name)
	return found, err
}

// checkAsked reads both; a figure of no metric is damage.
func (r *Reader) checkAsked() error {
	const all = 1 << 62
	if _, _, err := r.RequestsAbout(all); err != nil {
		return err
	}
	_, err := r.FiguresAbout(all)
	return err
}
