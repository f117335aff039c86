package gobin

import (
	"reflect"
	"slices"
	"sync"
	"time"
)

// A watcher of a hundred processes of a few builds opens few files: what was read of one is
// shared by all Binaries that are open of it at a time, with its mapping, the names of its
// functions, and for a while the source lines of addresses. What a process has loaded
// beside it is its own.

// shelf has the files that are open and mapped.
var shelf struct {
	mu    sync.Mutex
	files []*openFile
}

// openFile is one file, as long as a Binary of it is open.
type openFile struct {
	first *Binary // from which the others were made; open or not
	users int
}

// share gives another Binary of the file that was mapped anew, if one is open, and closes
// that mapping. Files that were read and not mapped lie on servers of others, which may answer
// each time with something else.
func share(m *mapping, path string) *Binary {
	shelf.mu.Lock()
	defer shelf.mu.Unlock()
	for _, o := range shelf.files {
		if !m.mapped || !isSame(o.first.file.info, m.info) {
			continue
		}
		b := *o.first
		b.Path, b.added, b.closed = path, &addedModules{}, false
		o.users++
		if b.table != nil {
			b.table.shared.Store(true)
		}
		_ = m.close() // of our own making: it was just mapped
		return &b
	}
	return nil
}

// keepOpen lets others share what b has read.
func (b *Binary) keepOpen() {
	if !b.file.mapped || b.file.info == nil {
		return
	}
	shelf.mu.Lock()
	defer shelf.mu.Unlock()
	shelf.files = append(shelf.files, &openFile{first: b, users: 1})
}

// Close gives the mapping back with the last Binary of the file. Strings handed out before stay
// valid.
func (b *Binary) Close() error {
	shelf.mu.Lock()
	defer shelf.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	for i, o := range shelf.files {
		if o.first.file != b.file {
			continue
		}
		if o.users--; o.users > 0 {
			return nil
		}
		shelf.files = slices.Delete(shelf.files, i, i+1)
		break
	}
	return b.file.close()
}

// Shared gives what make makes, or made before for another Binary that is open of the same
// file: there is one of each type. What is shared must not change. A program that is loaded
// at an address of its own, bias above the file's, has its own.
func Shared[T any](b *Binary, bias uint64, make func() (T, error)) (T, error) {
	if b.table == nil || bias != 0 {
		return make()
	}
	key := reflect.TypeFor[T]()
	if had, ok := b.table.readied.Load(key); ok {
		return had.(T), nil
	}
	made, err := make()
	if err == nil {
		b.table.readied.Store(key, made)
	}
	return made, err
}

// lines are the frames of addresses that were asked for, by table.logical's arguments.
type lines struct {
	of   map[lineKey][]Frame
	used time.Time
}

type lineKey struct {
	pc  uint64
	all bool
}

const (
	// mostLines bounds them: some 100 bytes each.
	mostLines = 8192
	// linesKept is how long they are kept after the last use: a hundred processes of a build are
	// attached to within seconds, and then hardly anything is asked.
	linesKept = 5 * time.Second
)

// known gives what was found for an address before.
func (t *table) known(k lineKey) ([]Frame, bool) {
	if !t.shared.Load() {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.lines.of[k]
	return f, ok
}

// note keeps what was found, where several processes may ask. The frames are not changed any more.
func (t *table) note(k lineKey, f []Frame) {
	if !t.shared.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines.of == nil {
		t.lines.of = map[lineKey][]Frame{}
	}
	if t.lines.used = time.Now(); len(t.lines.of) < mostLines {
		t.lines.of[k] = f
	}
}

// forgetLines gives back what nobody has asked for a while.
func (t *table) forgetLines() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines.of != nil && time.Since(t.lines.used) > linesKept {
		t.lines.of = nil
	}
}
