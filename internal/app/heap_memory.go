package app

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// mostKept bounds what is kept of a dying process beside the copy of its heap.
const mostKept = 256 * sample.MiB

// lastingMemory is the memory of a process, and once kept has been called what was
// kept of it: the process may be gone then.
type lastingMemory struct {
	*procfs.Memory
	left []leftMemory // by address; nil: read the process
}

// leftMemory is a piece of memory of a process that is gone.
type leftMemory struct {
	start uint64
	bytes []byte
}

var errLetGo = errors.New("the process is gone and this was not kept")

// ReadAt reads the process, or what is left of it.
func (m *lastingMemory) ReadAt(p []byte, addr int64) (int, error) {
	if m.left == nil {
		return m.Memory.ReadAt(p, addr)
	}
	at := uint64(addr)
	i := sort.Search(len(m.left), func(i int) bool { return m.left[i].start > at }) - 1
	if i < 0 || at-m.left[i].start >= uint64(len(m.left[i].bytes)) {
		return 0, errLetGo
	}
	n := copy(p, m.left[i].bytes[at-m.left[i].start:])
	if n < len(p) {
		return n, errLetGo
	}
	return n, nil
}

// ReadPieces reads the process alone.
func (m *lastingMemory) ReadPieces(p []byte, pieces [][2]uint64) error {
	if m.left != nil {
		return errLetGo
	}
	return m.Memory.ReadPieces(p, pieces)
}

// keep copies what an analysis reads beside the copied heap: the constants of the
// executable, among them its types, and the runtime's own tables, which lie outside
// the arenas. Afterwards nothing is read of the process any more.
func (m *lastingMemory) keep(ctx context.Context, tid int, arenas []sample.PageRange) error {
	var mapper procfs.Mapper
	mappings, err := mapper.Mappings("/proc", tid)
	if err != nil {
		return err
	}
	left := []leftMemory{}
	total := sample.Bytes(0)
	for i := range mappings {
		at := &mappings[i]
		if !isNeeded(at) || inArena(at, arenas) {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if total += sample.Bytes(at.End - at.Start); total > mostKept {
			return fmt.Errorf("its types and the runtime's tables take more than %d MiB", mostKept/sample.MiB)
		}
		b := make([]byte, at.End-at.Start)
		m.readTouched(b, at.Start)
		if l := len(left) - 1; l >= 0 && left[l].start+uint64(len(left[l].bytes)) == at.Start {
			left[l].bytes = append(left[l].bytes, b...)
			continue
		}
		left = append(left, leftMemory{at.Start, b})
	}
	m.left = left
	return nil
}

// readTouched reads what a mapping holds. A page that was never touched cannot be
// read of a process that is being killed for memory: it is zero.
func (m *lastingMemory) readTouched(b []byte, addr uint64) {
	const page = 4 << 10
	for at := 0; at < len(b); {
		n, _ := m.Memory.ReadAt(b[at:], int64(addr)+int64(at))
		at = (at+n)/page*page + page
	}
}

// isNeeded says whether a mapping may hold constants or the runtime's tables. Those
// are small or in use; a reserved part of the address space, or a thread's stack of
// C, is neither.
func isNeeded(m *procfs.Mapping) bool {
	const small = 1 << 20
	switch size := sample.Bytes(m.End - m.Start); {
	case m.Perms[0] != 'r' || m.Perms[2] == 'x' || m.Perms[3] != 'p':
		return false
	case m.FileBacked():
		return m.Rss > 0
	default:
		return m.Rss > 0 && (size <= small || m.Rss*4 >= size) && m.Path == ""
	}
}

func inArena(m *procfs.Mapping, ranges []sample.PageRange) bool {
	for _, r := range ranges {
		if r.Kind == sample.RangeArena && m.Start < r.End && r.Start < m.End {
			return true
		}
	}
	return false
}
