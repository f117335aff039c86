package gobin

import (
	"bufio"
	"compress/gzip"
	_ "embed"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ./layoutgen

// layoutsZipped is layouts.txt, which layoutgen read from the DWARF of one small program a
// toolchain, and compressed. After a comment its lines are:
//
//	toolchain ID VERSION EXPERIMENTS ARCH   "-" for no experiments
//	const NAME VALUE IDS                    the toolchains where the constant is that: "0-4,7"
//	type NAME SIZE IDS                      the toolchains that lay NAME out as follows
//	PATH OFFSET SIZE                        a field; nested ones as "gFree.n"
//
//go:embed layouts.txt.gz
var layoutsZipped string

// layoutLines gives the lines of the table, of which none is kept.
func layoutLines() iter.Seq[string] {
	return func(yield func(string) bool) {
		z, err := gzip.NewReader(strings.NewReader(layoutsZipped))
		if err != nil {
			panic(fmt.Sprint("layouts.txt.gz: ", err))
		}
		lines := bufio.NewScanner(z)
		for lines.Scan() {
			if !yield(lines.Text()) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			panic(fmt.Sprint("layouts.txt.gz: ", err))
		}
	}
}

// Layout is how one Go runtime lays its structs out in memory. Structs have the
// names that DWARF gives them: "runtime.g", "internal/abi.Type".
type Layout struct {
	structs map[string]*structLayout
	consts  map[string]int64
}

type structLayout struct {
	size   uint64
	fields map[string]field
}

type field struct{ offset, size uint64 }

// Layout is the layout of the runtime that this program is built on, or the
// error of Supported.
//
// It holds for the exact patch where that was measured, and for patches in
// between and newer ones of the same minor version as far as the measured ones
// agree: a struct that moved between them is absent, never guessed.
func (b *Binary) Layout() (*Layout, error) {
	if b.supported != nil {
		return nil, b.supported
	}
	ids, err := findToolchains(b.Arch, b.GoVersion, b.Experiments)
	if err != nil {
		return nil, err
	}
	return loadLayout(ids), nil
}

// Offset is the distance in bytes of a field from the start of its struct:
// Offset("runtime.g", "sched.pc"). ok is false if this runtime has no such field.
func (l *Layout) Offset(typ, path string) (offset uint64, ok bool) {
	f, ok := l.field(typ, path)
	return f.offset, ok
}

// FieldSize is the size of a field in bytes.
func (l *Layout) FieldSize(typ, path string) (size uint64, ok bool) {
	f, ok := l.field(typ, path)
	return f.size, ok
}

func (l *Layout) field(typ, path string) (field, bool) {
	s := l.structs[typ]
	if s == nil {
		return field{}, false
	}
	f, ok := s.fields[path]
	return f, ok
}

// Size is the size of a struct in bytes, which is the stride of an array of it.
func (l *Layout) Size(typ string) (size uint64, ok bool) {
	s := l.structs[typ]
	if s == nil {
		return 0, false
	}
	return s.size, true
}

// Const is the value of one of the runtime's constants:
// Const("runtime._KindSpecialProfile").
func (l *Layout) Const(name string) (value int64, ok bool) {
	value, ok = l.consts[name]
	return value, ok
}

// layouts caches one Layout a set of toolchains: a watcher meets few.
var layouts sync.Map // string -> *Layout

func loadLayout(ids []int) *Layout {
	key := fmt.Sprint(ids)
	if l, ok := layouts.Load(key); ok {
		return l.(*Layout)
	}
	l, _ := layouts.LoadOrStore(key, parseLayout(ids))
	return l.(*Layout)
}

// parseLayout keeps the structs that all the toolchains lay out alike.
func parseLayout(ids []int) *Layout {
	l := &Layout{structs: make(map[string]*structLayout), consts: make(map[string]int64)}
	var s *structLayout // nil while a variant of others is skipped
	for line := range layoutLines() {
		w := strings.Fields(line)
		switch {
		case len(w) == 4 && w[0] == "const":
			if containsAll(w[3], ids) {
				l.consts[w[1]] = int64(number(w[2]))
			}
		case len(w) == 4 && w[0] == "type":
			s = nil
			if containsAll(w[3], ids) {
				s = &structLayout{size: number(w[2]), fields: make(map[string]field)}
				l.structs[w[1]] = s
			}
		case len(w) == 3 && s != nil:
			s.fields[w[0]] = field{number(w[1]), number(w[2])}
		}
	}
	return l
}

// containsAll says whether all ids are among ranges ("0-4,7").
func containsAll(ranges string, ids []int) bool {
	missing := len(ids)
	for r := range strings.SplitSeq(ranges, ",") {
		first, last, ok := strings.Cut(r, "-")
		if !ok {
			last = first
		}
		lo, hi := int(number(first)), int(number(last))
		for _, id := range ids {
			if lo <= id && id <= hi {
				missing--
			}
		}
	}
	return missing == 0
}

// number reads our own table.
func number(s string) uint64 {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return uint64(n)
	}
	panic("layouts.txt: no number: " + s)
}
