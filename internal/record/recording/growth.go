package recording

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// growthSchema is the table that only a recording has whose programs' page faults were
// sampled: since version 1.6; mapped since 1.9.
const growthSchema = `CREATE TABLE IF NOT EXISTS resident_growth (
  id INTEGER PRIMARY KEY,
  since INTEGER, at INTEGER, process INTEGER REFERENCES process, kind TEXT, stack TEXT, samples INTEGER, bytes INTEGER, mapped TEXT
)`

var tableGrowth = table{"resident_growth", words(`since at process kind stack samples bytes mapped`)}

// Growth records what made resident memory grow.
func (w *Writer) Growth(list []sample.ResidentGrowth) error {
	return w.write("resident growth", func() error {
		if w.rows[tableGrowth.name] == 0 {
			if err := w.db.exec(growthSchema); err != nil {
				return err
			}
		}
		for i := range list {
			if err := w.addGrowth(&list[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *Writer) addGrowth(g *sample.ResidentGrowth) error {
	p, err := w.processOf(g.Process)
	if err != nil {
		return err
	}
	stack, err := w.stack(g.Where)
	if err != nil {
		return err
	}
	var mapped any // NULL where it is not known
	if len(g.Mapped) > 0 {
		if mapped, err = w.stack(g.Mapped); err != nil {
			return err
		}
	}
	_, err = w.add(&tableGrowth, w.when(g.From), w.when(g.At), p.id, string(g.Kind), stack, int64(g.Samples), int64(g.Bytes), mapped)
	return err
}

// maxGrowthStacks caps the stacks that are kept apart of a foreign file.
const maxGrowthStacks = 1 << 18

// Growth is what made resident memory grow until an instant, one entry for each stack and kind, in
// the order in which they were met. A recording without such a profile has none.
func (r *Reader) Growth(until time.Time) ([]sample.ResidentGrowth, error) {
	return r.growth(until, func(int, time.Time, sample.Bytes) {})
}

// GrowthOver is Growth until the last of the instants, which are in order, and of each entry the
// bytes until each of them.
func (r *Reader) GrowthOver(instants []time.Time) (list []sample.ResidentGrowth, reached [][]sample.Bytes, err error) {
	if len(instants) == 0 {
		return nil, nil, nil
	}
	list, err = r.growth(instants[len(instants)-1], func(i int, at time.Time, bytes sample.Bytes) {
		if i == len(reached) {
			reached = append(reached, make([]sample.Bytes, len(instants)))
		}
		for n := len(instants) - 1; n >= 0 && !instants[n].Before(at); n-- {
			reached[i][n] += bytes
		}
	})
	return list, reached, err
}

// growth tells each of every row: which entry of the list it belongs to, when its time ended, and
// how much it is.
func (r *Reader) growth(until time.Time, each func(i int, at time.Time, bytes sample.Bytes)) (list []sample.ResidentGrowth, err error) {
	if has, err := r.hasTable(tableGrowth.name); !has || err != nil {
		return nil, err
	}
	index := map[string]int{}
	err = r.rows(func(row []driver.Value) error {
		at := instantOf(row[2])
		if at.After(until) {
			return nil
		}
		key := fmt.Sprint(row[3], "/", row[4], "/", row[5], "/", row[8])
		i, known := index[key]
		if !known {
			g, err := r.growthOf(row)
			if err != nil || len(list) == maxGrowthStacks {
				return err
			}
			i = len(list)
			index[key] = i
			list = append(list, g)
		}
		bytes := sample.Bytes(max(0, integer(row[7])))
		list[i].At = at
		list[i].Samples += uint64(max(0, integer(row[6])))
		list[i].Bytes += bytes
		each(i, at, bytes)
		return nil
	}, r.sel(&tableGrowth)+" ORDER BY id")
	return list, err
}

// growthOf is a row without its amounts.
func (r *Reader) growthOf(row []driver.Value) (g sample.ResidentGrowth, err error) {
	g = sample.ResidentGrowth{From: instantOf(row[1]), Kind: sample.ResidentKind(str(row[4]))}
	if g.Process, err = r.keyOf(row[3]); err == nil {
		g.Where, err = r.stack(str(row[5]))
	}
	if mapped := str(row[8]); err == nil && mapped != "" {
		g.Mapped, err = r.stack(mapped)
	}
	return g, err
}

// checkGrowth reads all of it; a stack whose locations are missing is damage.
func (r *Reader) checkGrowth() error {
	_, err := r.Growth(time.Unix(1<<40, 0))
	return err
}
