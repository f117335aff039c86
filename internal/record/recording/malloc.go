package recording

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// mallocSchema is the table that only a recording has of a program with a C allocator: since
// version 1.7.
const mallocSchema = `CREATE TABLE IF NOT EXISTS malloc (
  id INTEGER PRIMARY KEY,
  process INTEGER REFERENCES process, allocator TEXT, why_not TEXT,
  blocks INTEGER, in_use INTEGER, free INTEGER, free_resident INTEGER, top INTEGER, whole INTEGER,
  mapped_blocks INTEGER, mapped INTEGER, system INTEGER, unread INTEGER, why_unread TEXT,
  arenas TEXT, other_arenas INTEGER, sizes TEXT, other_blocks INTEGER, other_bytes INTEGER, took INTEGER
)`

var tableMalloc = table{"malloc", words(`process allocator why_not blocks in_use free free_resident top whole
	mapped_blocks mapped system unread why_unread arenas other_arenas sizes other_blocks other_bytes took`)}

// addMalloc is the row number of what malloc said, NULL where nothing is known of it.
func (w *Writer) addMalloc(process int64, m *sample.Malloc) (driver.Value, error) {
	if m == nil {
		return nil, nil
	}
	if w.rows[tableMalloc.name] == 0 {
		if err := w.db.exec(mallocSchema); err != nil {
			return nil, err
		}
	}
	arenas := make([][4]sample.Bytes, len(m.Arenas))
	for i, a := range m.Arenas {
		arenas[i] = [4]sample.Bytes{a.System, a.InUse, a.Free, a.FreeResident}
	}
	sizes := make([][3]uint64, len(m.Sizes))
	for i, s := range m.Sizes {
		sizes[i] = [3]uint64{uint64(s.Size), s.Count}
		if s.Mapped {
			sizes[i][2] = 1
		}
	}
	id, err := w.add(&tableMalloc, process, text(m.Allocator), text(m.WhyNot),
		int64(m.Blocks), int64(m.InUse), int64(m.Free), int64(m.FreeResident), int64(m.Top), int64(m.Whole),
		int64(m.MappedBlocks), int64(m.Mapped), int64(m.System), int64(m.Unread), text(m.WhyUnread),
		list(arenas), int64(m.Others), list(sizes), int64(m.OtherBlocks), int64(m.OtherBytes), int64(m.Took))
	return id, err
}

// malloc reads a row of it.
func (r *Reader) malloc(id int64) (m *sample.Malloc, err error) {
	err = r.rows(func(row []driver.Value) error {
		m = mallocOf(row)
		return nil
	}, r.sel(&tableMalloc)+" WHERE id = ?1", id)
	if err == nil && m == nil {
		err = fmt.Errorf("row %d of table malloc: %w", id, ErrMissing)
	}
	return m, err
}

func mallocOf(row []driver.Value) *sample.Malloc {
	bytes := func(i int) sample.Bytes { return sample.Bytes(max(0, integer(row[i]))) }
	m := &sample.Malloc{Allocator: str(row[2]), WhyNot: str(row[3]),
		Blocks: uint64(integer(row[4])), InUse: bytes(5), Free: bytes(6), FreeResident: bytes(7), Top: bytes(8), Whole: bytes(9),
		MappedBlocks: uint64(integer(row[10])), Mapped: bytes(11), System: bytes(12), Unread: bytes(13), WhyUnread: str(row[14]),
		Others: int(integer(row[16])), OtherBlocks: uint64(integer(row[18])), OtherBytes: bytes(19), Took: time.Duration(integer(row[20]))}
	for _, a := range strs[[4]sample.Bytes](row[15]) {
		m.Arenas = append(m.Arenas, sample.MallocArena{System: a[0], InUse: a[1], Free: a[2], FreeResident: a[3]})
	}
	for _, s := range strs[[3]uint64](row[17]) {
		m.Sizes = append(m.Sizes, sample.MallocSize{Size: sample.Bytes(s[0]), Count: s[1], Mapped: s[2] != 0})
	}
	return m
}

// MallocsOf is what malloc said of a process at its moments, by time, without those of other
// programs of the process. A recording without it has none.
func (r *Reader) MallocsOf(key sample.ProcessKey) (list []MallocAt, err error) {
	if has, err := r.hasTable(tableMalloc.name); !has || err != nil {
		return nil, err
	}
	where, err := r.whereProcess(key)
	if err != nil {
		return nil, err
	}
	ids := map[int64]time.Time{}
	err = r.rows(func(row []driver.Value) error {
		ids[integer(row[0])] = instantOf(row[1])
		return nil
	}, "SELECT p.malloc, m.at FROM process_moment p JOIN moment m ON m.id = p.moment"+where+" AND p.malloc IS NOT NULL ORDER BY p.id")
	if err != nil {
		return nil, err
	}
	err = r.rows(func(row []driver.Value) error {
		if at, ok := ids[integer(row[0])]; ok {
			list = append(list, MallocAt{at, *mallocOf(row)})
		}
		return nil
	}, r.sel(&tableMalloc)+where+" ORDER BY id")
	return list, err
}

// MallocAt is what malloc said at a time.
type MallocAt struct {
	At time.Time
	sample.Malloc
}
