package recording

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// heapSchema are the tables that only a recording has in which a heap was captured:
// since version 1.2.
const heapSchema = `CREATE TABLE IF NOT EXISTS heap_capture (
  id INTEGER PRIMARY KEY,
  at INTEGER, process INTEGER REFERENCES process, reason TEXT, stopped INTEGER, took INTEGER, gc INTEGER,
  objects INTEGER, bytes INTEGER, live_objects INTEGER, live_bytes INTEGER, untyped INTEGER,
  first_path INTEGER, paths INTEGER, first_site INTEGER, sites INTEGER, first_type INTEGER, types INTEGER,
  collections TEXT, chains TEXT, gaps TEXT, lines TEXT, callbacks TEXT
);
CREATE TABLE IF NOT EXISTS heap_name (
  id INTEGER PRIMARY KEY,
  name TEXT
);
CREATE TABLE IF NOT EXISTS heap_path (
  id INTEGER PRIMARY KEY,
  capture INTEGER REFERENCES heap_capture, parent INTEGER REFERENCES heap_path,
  label INTEGER REFERENCES heap_name, type INTEGER REFERENCES heap_name,
  objects INTEGER, bytes INTEGER, held INTEGER, retained INTEGER, holder INTEGER, young INTEGER, root TEXT, owner TEXT
);
CREATE TABLE IF NOT EXISTS heap_site (
  id INTEGER PRIMARY KEY,
  path INTEGER REFERENCES heap_path, frame INTEGER REFERENCES frame, objects INTEGER, bytes INTEGER
);
CREATE TABLE IF NOT EXISTS heap_type (
  id INTEGER PRIMARY KEY,
  capture INTEGER REFERENCES heap_capture, type INTEGER REFERENCES heap_name, objects INTEGER, bytes INTEGER, inferred INTEGER
)`

var (
	tableHeapCapture = table{"heap_capture",
		words(`at process reason stopped took gc objects bytes live_objects live_bytes untyped first_path paths first_site sites first_type types
		collections chains gaps lines callbacks`)}
	tableHeapName = table{"heap_name", words(`name`)}
	tableHeapPath = table{"heap_path", words(`capture parent label type objects bytes held retained holder young root owner`)}
	tableHeapSite = table{"heap_site", words(`path frame objects bytes`)}
	tableHeapType = table{"heap_type", words(`capture type objects bytes inferred`)}
)

// HeapCapture records who held a heap.
func (w *Writer) HeapCapture(c *sample.HeapCapture) error {
	return w.write("heap capture", func() error {
		if w.heapNames == nil {
			if err := w.db.exec(heapSchema); err != nil {
				return err
			}
			w.heapNames = map[string]int64{}
		}
		return w.addHeap(c)
	})
}

func (w *Writer) addHeap(c *sample.HeapCapture) error {
	p, err := w.processOf(c.Process)
	if err != nil {
		return err
	}
	lists := make([]driver.Value, 3)
	for i, list := range []any{c.Collections, c.Chains, shortGaps(c.Gaps)} {
		b, err := json.Marshal(list)
		if err != nil {
			return err
		}
		lists[i] = string(b)
	}
	lines, err := w.heapLines(c.Lines)
	if err != nil {
		return err
	}
	callbacks, err := w.heapCallbacks(c.Callbacks)
	if err != nil {
		return err
	}
	sites := int64(0)
	for i := range c.Paths {
		sites += int64(len(c.Paths[i].Sites))
	}
	capture, err := w.add(&tableHeapCapture, w.at(c.At), p.id, string(c.Reason), int64(c.Stopped), int64(c.Took), int64(c.GC),
		int64(c.Objects), int64(c.Bytes), int64(c.LiveObjects), int64(c.LiveBytes), int64(c.Untyped),
		w.rows[tableHeapPath.name]+1, int64(len(c.Paths)), w.rows[tableHeapSite.name]+1, sites, w.rows[tableHeapType.name]+1, int64(len(c.Types)),
		lists[0], lists[1], lists[2], lines, callbacks)
	if err != nil {
		return err
	}
	if err := w.addHeapPaths(capture, c); err != nil {
		return err
	}
	for _, t := range c.Types {
		name, err := w.heapName(t.Type)
		if err != nil {
			return err
		}
		var inferred driver.Value
		if c.Ages {
			inferred = int64(t.Inferred)
		}
		if _, err := w.add(&tableHeapType, capture, name, int64(t.Objects), int64(t.Bytes), inferred); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) addHeapPaths(capture int64, c *sample.HeapCapture) error {
	first := w.rows[tableHeapPath.name] + 1
	for i := range c.Paths {
		p := &c.Paths[i]
		var parent, young driver.Value
		if c.Ages {
			young = int64(p.Young)
		}
		if p.Parent >= i {
			return fmt.Errorf("heap path %d before the one that it is a part of, %d", i, p.Parent)
		}
		if p.Parent >= 0 {
			parent = first + int64(p.Parent)
		}
		label, err := w.heapName(p.Label)
		if err != nil {
			return err
		}
		typ, err := w.heapName(p.Type)
		if err != nil {
			return err
		}
		root, owner, err := rootAndOwner(p)
		if err != nil {
			return err
		}
		id, err := w.add(&tableHeapPath, capture, parent, label, typ, int64(p.Objects), int64(p.Bytes), int64(p.Held), int64(p.Retained), flag(p.Holder), young,
			root, owner)
		if err != nil {
			return err
		}
		for _, s := range p.Sites {
			frame, err := w.frame(s.At)
			if err != nil {
				return err
			}
			if _, err := w.add(&tableHeapSite, id, frame, int64(s.Objects), int64(s.Bytes)); err != nil {
				return err
			}
		}
	}
	return nil
}

// heapLine is a line of a capture: the frame's row, objects and bytes.
type heapLine [3]int64

// heapLines are lines as JSON, NULL where none is known.
func (w *Writer) heapLines(list []sample.HeapSite) (driver.Value, error) {
	if list == nil {
		return nil, nil
	}
	rows := make([]heapLine, len(list))
	for i, s := range list {
		frame, err := w.frame(s.At)
		if err != nil {
			return nil, err
		}
		rows[i] = heapLine{frame, int64(s.Objects), int64(s.Bytes)}
	}
	b, err := json.Marshal(rows)
	return string(b), err
}

// heapCallback is one as it is written: Closure is the frame's row.
type heapCallback struct {
	Func, Creator string
	Count         int
	Closure       int64
}

// heapCallbacks are those of a capture as JSON, NULL for an empty list.
func (w *Writer) heapCallbacks(list []sample.HeapCallback) (driver.Value, error) {
	if len(list) == 0 {
		return nil, nil
	}
	rows := make([]heapCallback, len(list))
	for i, c := range list {
		frame, err := w.frame(c.Closure)
		if err != nil {
			return nil, err
		}
		rows[i] = heapCallback{c.Func, c.Creator, c.Count, frame}
	}
	b, err := json.Marshal(rows)
	return string(b), err
}

// rootAndOwner are a path's as JSON, NULL where it has none.
func rootAndOwner(p *sample.HeapPath) (root, owner driver.Value, err error) {
	var b []byte
	if p.Root != nil {
		if b, err = json.Marshal(p.Root); err != nil {
			return nil, nil, err
		}
		root = string(b)
	}
	if p.Owner != nil {
		if b, err = json.Marshal(p.Owner); err != nil {
			return nil, nil, err
		}
		owner = string(b)
	}
	return root, owner, nil
}

// heapName is the row number of a name, which is written once.
func (w *Writer) heapName(name string) (int64, error) {
	if id := w.heapNames[name]; id != 0 {
		return id, nil
	}
	id, err := w.add(&tableHeapName, name)
	if err == nil {
		w.heapNames[name] = id
	}
	return id, err
}

// shortGap is a gap of a capture, which has the capture's time and process.
type shortGap struct{ What, Why string }

func shortGaps(gaps []sample.Gap) []shortGap {
	list := make([]shortGap, len(gaps))
	for i, g := range gaps {
		list[i] = shortGap{g.What, g.Why}
	}
	return list
}
