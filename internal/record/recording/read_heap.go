package recording

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// HeapInfo is a heap capture without what is in it.
type HeapInfo struct {
	ID        int64
	At        time.Time
	Process   sample.ProcessKey
	Reason    sample.HeapReason
	LiveBytes sample.Bytes
}

// Heaps are the heap captures, in the order of writing; a recording without any has
// none.
func (r *Reader) Heaps() (list []HeapInfo, err error) {
	if has, err := r.hasTable(tableHeapCapture.name); !has || err != nil {
		return nil, err
	}
	err = r.rows(func(row []driver.Value) error {
		key, err := r.keyOf(row[2])
		list = append(list, HeapInfo{integer(row[0]), instantOf(row[1]), key, sample.HeapReason(str(row[3])), sample.Bytes(integer(row[4]))})
		return err
	}, "SELECT id, at, process, reason, live_bytes FROM heap_capture ORDER BY id")
	return list, err
}

// maxHeapRows caps the paths and types of one capture of a foreign file.
const maxHeapRows = 1 << 20

// Heap is a heap capture. Of one that is cut, paths are missing; a gap says so.
func (r *Reader) Heap(id int64) (*sample.HeapCapture, error) {
	var c *sample.HeapCapture
	var at heapExtent
	var lines []heapLine
	var callbacks []heapCallback
	err := r.rows(func(row []driver.Value) (err error) {
		c, err = r.heapOf(row)
		lines, callbacks = strs[heapLine](row[21]), strs[heapCallback](row[22])
		at = heapExtent{span{integer(row[12]), integer(row[13])}, span{integer(row[14]), integer(row[15])}, span{integer(row[16]), integer(row[17])}}
		return err
	}, r.sel(&tableHeapCapture)+" WHERE id = ?1", id)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("heap capture %d: %w", id, ErrMissing)
	}
	if err := r.heapRows(c, at); err != nil {
		return nil, err
	}
	r.linesOf(c, lines)
	r.callbacksOf(c, callbacks)
	if r.redactor != nil {
		r.redactor.capture(c)
	}
	if missing := at.paths.n - int64(len(c.Paths)); missing > 0 {
		c.Gaps = append(c.Gaps, sample.Gap{What: fmt.Sprintf("%d of %d holders", missing, at.paths.n), Why: "the recording is cut"})
	}
	return c, nil
}

// span is rows that follow one another.
type span struct{ first, n int64 }

// end is one more than the last row's number, but no more than a capture may have.
func (s span) end() int64 { return s.first + max(0, min(s.n, maxHeapRows)) }

// heapExtent is where the rows of a capture lie.
type heapExtent struct{ paths, sites, types span }

// heapOf reads a row of heap_capture.
func (r *Reader) heapOf(row []driver.Value) (*sample.HeapCapture, error) {
	key, err := r.keyOf(row[2])
	if err != nil {
		return nil, err
	}
	c := &sample.HeapCapture{
		At: instantOf(row[1]), Process: key, Reason: sample.HeapReason(str(row[3])),
		Stopped: time.Duration(integer(row[4])), Took: time.Duration(integer(row[5])), GC: uint32(integer(row[6])),
		Objects: uint64(integer(row[7])), Bytes: sample.Bytes(integer(row[8])),
		LiveObjects: uint64(integer(row[9])), LiveBytes: sample.Bytes(integer(row[10])), Untyped: sample.Bytes(integer(row[11])),
		Collections: strs[sample.HeapCollection](row[18]), Chains: strs[sample.HeapChain](row[19]),
	}
	for _, g := range strs[shortGap](row[20]) {
		c.Gaps = append(c.Gaps, sample.Gap{What: g.What, Why: g.Why})
	}
	return c, nil
}

// heapRows reads the paths, their sites, and the types of a capture.
func (r *Reader) heapRows(c *sample.HeapCapture, at heapExtent) error {
	names, err := r.heapNames()
	if err != nil {
		return err
	}
	if err := r.heapPaths(c, at.paths, names); err != nil {
		return err
	}
	if err := r.heapSites(c, at); err != nil {
		return err
	}
	return r.rows(func(row []driver.Value) error {
		typ, err := names.of(row[2])
		if err == nil {
			c.Types = append(c.Types, sample.HeapType{Type: typ, Objects: uint64(integer(row[3])), Bytes: sample.Bytes(integer(row[4])),
				Inferred: sample.Bytes(integer(row[5]))})
		}
		return err
	}, r.sel(&tableHeapType)+" WHERE id >= ?1 AND id < ?2 ORDER BY id", at.types.first, at.types.end())
}

// heapNames are the rows of heap_name, from 1.
type heapNames []string

func (names heapNames) of(row driver.Value) (string, error) {
	if n := integer(row); n >= 1 && n <= int64(len(names)) {
		return names[n-1], nil
	}
	return "", fmt.Errorf("row %v of table heap_name: %w", row, ErrMissing)
}

func (r *Reader) heapNames() (names heapNames, err error) {
	err = r.rows(func(row []driver.Value) error {
		if integer(row[0]) != int64(len(names)+1) {
			return errStop
		}
		names = append(names, str(row[1]))
		return nil
	}, tableHeapName.selFrom(tableHeapName.name)+" ORDER BY id")
	return names, err
}

func (r *Reader) heapPaths(c *sample.HeapCapture, at span, names heapNames) error {
	return r.rows(func(row []driver.Value) error {
		n, parent := integer(row[0]), -1
		if n != at.first+int64(len(c.Paths)) {
			return errStop
		}
		if row[2] != nil {
			up := integer(row[2])
			if up < at.first || up >= n {
				return fmt.Errorf("heap path %d is a part of %d: %w", n, up, ErrMissing)
			}
			parent = int(up - at.first)
		}
		label, err := names.of(row[3])
		if err != nil {
			return err
		}
		typ, err := names.of(row[4])
		if err != nil {
			return err
		}
		c.Paths = append(c.Paths, sample.HeapPath{Parent: parent, Label: label, Type: typ,
			Objects: uint64(integer(row[5])), Bytes: sample.Bytes(integer(row[6])), Held: uint64(integer(row[7])), Retained: sample.Bytes(integer(row[8])),
			Holder: integer(row[9]) != 0, Young: sample.Bytes(integer(row[10])),
			Root: object[sample.HeapRoot](row[11]), Owner: object[sample.HeapOwner](row[12])})
		c.Ages = c.Ages || row[10] != nil
		return nil
	}, r.sel(&tableHeapPath)+" WHERE id >= ?1 AND id < ?2 ORDER BY id", at.first, at.end())
}

// object is what a value says as JSON, nil where it is NULL or says nothing.
func object[T any](v driver.Value) *T {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	o := new(T)
	if json.Unmarshal([]byte(text), o) != nil {
		return nil
	}
	return o
}

func (r *Reader) heapSites(c *sample.HeapCapture, at heapExtent) error {
	if err := r.loadLocations(); err != nil {
		return err
	}
	return r.rows(func(row []driver.Value) error {
		path, frame := integer(row[0])-at.paths.first, integer(row[1])
		if path < 0 || path >= int64(len(c.Paths)) || frame < 1 || frame > int64(len(r.frames)) {
			return fmt.Errorf("a site of heap path %v at frame %v: %w", row[0], row[1], ErrMissing)
		}
		p := &c.Paths[path]
		p.Sites = append(p.Sites, sample.HeapSite{At: r.frames[frame-1], Objects: uint64(integer(row[2])), Bytes: sample.Bytes(integer(row[3]))})
		return nil
	}, "SELECT path, frame, objects, bytes FROM heap_site WHERE id >= ?1 AND id < ?2 ORDER BY id", at.sites.first, at.sites.end())
}

// linesOf gives a capture the lines of all that can be reached: all of them or, where the recording
// is cut, none.
func (r *Reader) linesOf(c *sample.HeapCapture, lines []heapLine) {
	for _, l := range lines {
		if l[0] < 1 || l[0] > int64(len(r.frames)) {
			c.Lines = nil
			return
		}
		c.Lines = append(c.Lines, sample.HeapSite{At: r.frames[l[0]-1], Objects: uint64(l[1]), Bytes: sample.Bytes(l[2])})
	}
}

// callbacksOf gives a capture those whose closure's frame the recording has.
func (r *Reader) callbacksOf(c *sample.HeapCapture, list []heapCallback) {
	for _, l := range list {
		if l.Closure >= 1 && l.Closure <= int64(len(r.frames)) {
			c.Callbacks = append(c.Callbacks, sample.HeapCallback{Func: l.Func, Creator: l.Creator, Count: l.Count, Closure: r.frames[l.Closure-1]})
		}
	}
}

// checkHeaps reads every capture; one of a path or name that is missing is damage.
func (r *Reader) checkHeaps() error {
	list, err := r.Heaps()
	for _, h := range list {
		if _, err := r.Heap(h.ID); err != nil {
			return err
		}
	}
	return err
}
