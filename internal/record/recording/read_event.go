package recording

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Cycles are the collections of a process, in the order in which they were seen.
func (r *Reader) Cycles(key sample.ProcessKey) ([]sample.GCCycle, error) {
	return r.cyclesOf(key, tableCycle.name+" ORDER BY id")
}

// CycleAt is the collection of a process that ended at an instant, in a recording
// that was imported from a log: there they are in the order of time. False: none did.
func (r *Reader) CycleAt(key sample.ProcessKey, at time.Time) (sample.GCCycle, bool, error) {
	first, err := r.firstAt(tableCycle.name, at.UnixNano())
	if err != nil {
		return sample.GCCycle{}, false, err
	}
	end, err := r.firstAt(tableCycle.name, at.UnixNano()+1)
	if err != nil {
		return sample.GCCycle{}, false, err
	}
	list, err := r.cyclesOf(key, fmt.Sprintf("%s WHERE id >= %d AND id < %d ORDER BY id", tableCycle.name, first, end))
	if len(list) == 0 {
		return sample.GCCycle{}, false, err
	}
	return list[0], true, err
}

// cyclesOf reads them from what stands after FROM.
func (r *Reader) cyclesOf(key sample.ProcessKey, from string) ([]sample.GCCycle, error) {
	var list []sample.GCCycle
	err := r.rows(func(row []driver.Value) error {
		if of, err := r.keyOf(row[2]); of != key || err != nil {
			return err
		}
		list = append(list, sample.GCCycle{
			At: instantOf(row[1]), Process: key, N: uint32(integer(row[3])), Missed: uint32(integer(row[4])),
			Trigger: sample.Bytes(integer(row[5])), Marked: sample.Bytes(integer(row[6])), Goal: sample.Bytes(integer(row[7])),
			Pause: time.Duration(integer(row[8])), GOGC: int32(integer(row[9])), Limit: integer(row[10]), Alloc: sample.Bytes(integer(row[11])),
		})
		return nil
	}, strings.Replace(r.sel(&tableCycle), " FROM "+tableCycle.name, " FROM "+from, 1))
	return list, err
}

// Events are all events, in the order in which they were recorded.
func (r *Reader) Events() ([]sample.Event, error) {
	var list []sample.Event
	err := r.rows(func(row []driver.Value) error {
		process, err := r.keyOf(row[3])
		if err != nil {
			return err
		}
		e := sample.Event{At: instantOf(row[1]), Kind: sample.EventKind(str(row[2])), Process: process, Value: integer(row[4]), Text: str(row[5])}
		if r.redactor != nil {
			e = r.redactor.event(e)
		}
		list = append(list, e)
		return nil
	}, r.sel(&tableEvent)+" ORDER BY id")
	return list, err
}

// Gaps are all gaps, in the order in which they were recorded.
func (r *Reader) Gaps() ([]sample.Gap, error) {
	var list []sample.Gap
	err := r.rows(func(row []driver.Value) error {
		process, err := r.keyOf(row[3])
		if err != nil {
			return err
		}
		g := sample.Gap{From: instantOf(row[1]), To: instantOf(row[2]), Process: process, What: str(row[4]), Why: str(row[5])}
		if r.redactor != nil {
			g = r.redactor.gap(g)
		}
		list = append(list, g)
		return nil
	}, r.sel(&tableGap)+" ORDER BY id")
	return list, err
}

// instantOf is a time, the zero time for NULL.
func instantOf(v driver.Value) time.Time {
	ns, ok := v.(int64)
	if !ok {
		return time.Time{}
	}
	return wall(ns)
}
