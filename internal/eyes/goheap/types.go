package goheap

import (
	"fmt"
	"math"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// Types are the program's type descriptors (internal/abi.Type), read as they are
// needed, and what the runtime keeps behind them: the tables of maps, channels,
// closures. Descriptors are the same in Go 1.20 to 1.27 but for maps.
type Types struct {
	c        *heapCopy
	bin      *gobin.Binary
	near     *gomem.Cursor
	all      []goType // [0] is unknown
	byKey    map[typeKey]int32
	labels   []string
	byLabel  map[string]int32
	itabs    map[uint64]int32
	swiss    bool // maps of Go 1.24 and later
	elemtype uint64
	direct   bool // since Go 1.26 TFlag says what is direct in an interface; before Kind
	depth    int  // of the types that are being read
	nodes    bool // some type is told by its objects; see nodeOf

	known        *typeIndex        // nil: nobody has asked
	closureTypes map[uint64]uint64 // by pc; nil: nobody has asked
}

// TypeRef is a type, and whether the object holds several values of it, as the
// array behind a slice does. 0 is unknown.
type TypeRef uint32

func refOf(t int32, array bool) TypeRef {
	if t <= 0 {
		return 0
	}
	if array {
		return TypeRef(t)<<1 | 1
	}
	return TypeRef(t) << 1
}

// typeTable is a type for each object. Few programs have so many types in use that
// their numbers need more than 16 bits.
type typeTable struct {
	narrow []uint16
	wide   []TypeRef // instead, once one needs more
}

func newTypeTable(n int) typeTable { return typeTable{narrow: InLargePages(make([]uint16, n))} }

func (t *typeTable) at(id uint32) TypeRef {
	if t.wide != nil {
		return t.wide[id]
	}
	return TypeRef(t.narrow[id])
}

func (t *typeTable) set(id uint32, ref TypeRef) {
	if t.wide == nil && ref <= math.MaxUint16 {
		t.narrow[id] = uint16(ref)
		return
	}
	t.setWide(id, ref)
}

func (t *typeTable) setWide(id uint32, ref TypeRef) {
	if t.wide == nil {
		t.wide = InLargePages(make([]TypeRef, len(t.narrow)))
		for i, r := range t.narrow {
			t.wide[i] = TypeRef(r)
		}
		t.narrow = nil
	}
	t.wide[id] = ref
}

func (r TypeRef) array() bool  { return r&1 != 0 }
func (r TypeRef) index() int32 { return int32(r >> 1) }

// role is what a type's memory is to the runtime.
type role uint8

const (
	roleValue     role = iota
	roleMap            // a map's header: internal/runtime/maps.Map or runtime.hmap
	roleDir            // []*table
	roleTable          // internal/runtime/maps.table
	roleGroups         // a map's groups or buckets: the type is theirs
	roleExtra          // runtime.mapextra
	roleOverflow       // []*bmap
	roleChan           // runtime.hchan
	roleClosure        // a function and what it captured
	roleString         // the bytes of strings
	roleInterface      // an interface with methods, roleEmpty one without: no descriptor is there
	roleEmpty
	roleRuntime // a struct of the runtime that has no descriptor: addr is an index of runtimeTypes
)

type typeKey struct {
	addr uint64
	role role
}

// Kinds of internal/abi.Type.
const (
	kindUint8     = 8
	kindArray     = 17
	kindChan      = 18
	kindFunc      = 19
	kindInterface = 20
	kindMap       = 21
	kindPointer   = 22
	kindSlice     = 23
	kindString    = 24
	kindStruct    = 25
	kindUnsafe    = 26
	kindMask      = 1<<5 - 1
)

// goType is one of them.
type goType struct {
	typeKey
	name           string
	pkg            string // import path of the package, of structs with a name
	kind, tflag    uint8
	direct         bool
	methods        bool // of an interface: its values begin with an itab
	size, ptrBytes uint64
	gcdata         uint64
	program        bool   // gcdata is a program, to Go 1.23
	elem           int32  // of pointers, slices, arrays, channels; of maps: their groups
	length         uint64 // of arrays
	fields         []goField
	partial        bool   // some of its fields could not be read
	slots          []slot // by word, of types of at most maxSlots words; nil: not yet made
}

type goField struct {
	name   string
	offset uint64
	typ    int32
}

const (
	maxSlots  = 1 << 12
	maxFields = 1 << 16
	maxTypes  = 1 << 22
	maxNested = 64
	maxLabel  = 1 << 12
	// maxTypeDepth is how many types that lead to one another are read in a row: more
	// than any program has, and some 100 MB of stack.
	maxTypeDepth = 1 << 16
	typeSize     = 48
)

func newTypes(c *heapCopy) (*Types, error) {
	layout, err := c.bin.Layout()
	if err != nil {
		return nil, err
	}
	t := &Types{c: c, bin: c.bin, near: gomem.NewCursor(c.mem), all: make([]goType, 1), byKey: make(map[typeKey]int32),
		labels: []string{""}, byLabel: map[string]int32{"": 0}, itabs: make(map[uint64]int32)}
	_, t.swiss = layout.Offset("internal/runtime/maps.Map", "dirPtr")
	t.elemtype, _ = layout.Offset("runtime.hchan", "elemtype")
	t.direct = c.minor >= 26
	return t, nil
}

// label numbers a part of a path.
func (t *Types) label(s string) int32 {
	s = s[:min(len(s), maxLabel)]
	if i, ok := t.byLabel[s]; ok {
		return i
	}
	i := int32(len(t.labels))
	t.labels, t.byLabel[s] = append(t.labels, s), i
	return i
}

// NewLabel numbers a part of a path that a caller adds.
func (t *Types) NewLabel(s string) int32 { return t.label(s) }

// Label is the text of a part of a path.
func (t *Types) Label(i int32) string { return t.labels[i] }

// at is the type described at addr, 0 if that cannot be one.
func (t *Types) at(addr uint64) int32 { return t.as(addr, roleValue) }

// as is the type at addr in a role.
func (t *Types) as(addr uint64, r role) int32 {
	key := typeKey{addr, r}
	if i, ok := t.byKey[key]; ok {
		return i
	}
	if addr == 0 && r < roleString || len(t.all) >= maxTypes || t.depth >= maxTypeDepth {
		return 0
	}
	t.depth++
	defer func() { t.depth-- }()
	i := int32(len(t.all))
	t.all, t.byKey[key] = append(t.all, goType{typeKey: key}), i
	g := goType{typeKey: key}
	ok := true
	switch r {
	case roleClosure:
		g.size, g.name = 0, t.funcName(addr)
		if g.elem = t.captures(addr); g.elem != 0 {
			g.size = t.all[g.elem].size
		}
	case roleString:
		g.size, g.kind, g.name = 1, kindUint8, "string contents"
	case roleInterface, roleEmpty:
		g.size, g.kind, g.methods = 16, kindInterface, r == roleInterface
	case roleRuntime:
		t.lay(&g)
	default:
		ok = t.read(&g)
		t.dress(&g)
	}
	switch {
	case !ok:
		i = 0
	case r == roleValue && isGroup(g.name): // of an object that carries its type
		i = t.as(addr, roleGroups)
	default:
		t.all[i] = g
		t.nodes = t.nodes || g.isNode()
		return i
	}
	t.byKey[key] = i
	return i
}

// isGroup says whether a type is a map's group of entries, since Go 1.24, or bucket:
// both are named by the compiler (cmd/compile/internal/reflectdata/map.go).
func isGroup(name string) bool {
	return strings.HasPrefix(name, "map.group[") || strings.HasPrefix(name, "map.bucket[")
}

// dress gives what the runtime keeps behind a type its own shape and name.
func (t *Types) dress(g *goType) {
	switch g.role {
	case roleMap:
		g.size = 48
	case roleDir:
		g.size, g.name = 8, g.name+" directory"
	case roleTable:
		g.size, g.name = 32, g.name+" table"
	case roleExtra:
		g.size, g.name = 24, g.name+" overflow"
	case roleOverflow:
		g.size, g.name = 24, g.name+" overflow list"
	case roleChan:
		g.size, g.name = 0, g.name+" header"
	case roleGroups:
		if _, rest, ok := strings.Cut(g.name, "["); ok && isGroup(g.name) {
			g.name = "map[" + rest + " entries"
		}
	}
}

// load reads what is constant in a program, or, of types made while it ran, was
// copied.
func (t *Types) load(addr uint64, p []byte) error {
	if b := t.c.at(addr); len(b) >= len(p) {
		copy(p, b)
		return nil
	}
	return t.near.Read(addr, p)
}

// read reads the descriptor at g.addr.
func (t *Types) read(g *goType) bool {
	var b [typeSize]byte
	if t.load(g.addr, b[:]) != nil {
		return false
	}
	g.size, g.ptrBytes = gomem.Word(b[:], 0), gomem.Word(b[:], 8)
	g.tflag, g.kind = b[20], b[23]
	g.gcdata = gomem.Word(b[:], 32)
	g.program = g.kind&(1<<6) != 0
	g.direct = g.kind&(1<<5) != 0
	if t.direct {
		g.direct, g.program = g.tflag&(1<<5) != 0, false
	}
	g.kind &= kindMask
	if g.kind == 0 || g.kind > kindUnsafe || g.ptrBytes > g.size || g.size > 1<<46 || b[21] == 0 || b[21] > 64 {
		return false
	}
	g.name = t.nameOff(g.addr, gomem.Half(b[:], 40), g.tflag)
	return t.readMore(g)
}

// readMore reads what follows the part that all types have.
func (t *Types) readMore(g *goType) bool {
	var b [24]byte
	more := g.addr + typeSize
	if t.load(more, b[:]) != nil {
		return g.kind < kindArray
	}
	switch g.kind {
	case kindPointer, kindSlice, kindChan:
		g.elem = t.at(gomem.Word(b[:], 0))
	case kindArray:
		g.elem, g.length = t.at(gomem.Word(b[:], 0)), gomem.Word(b[:], 16)
	case kindMap:
		g.elem = t.as(gomem.Word(b[:], 16), roleGroups)
	case kindInterface:
		g.methods = gomem.Word(b[:], 16) != 0 // abi.InterfaceType.Methods, its length
	case kindStruct:
		g.pkg = t.readPackage(g, structSize)
		return t.readFields(g, gomem.Word(b[:], 8), gomem.Word(b[:], 16))
	}
	return true
}

// readFields reads a struct's fields (abi.StructField, 24 bytes).
func (t *Types) readFields(g *goType, list, n uint64) bool {
	if n > maxFields || n*24 > 1<<21 {
		return false
	}
	b := make([]byte, 24*n)
	if n > 0 && t.load(list, b) != nil {
		return false
	}
	fields := make([]goField, 0, n)
	for ; len(b) > 0; b = b[24:] {
		f := goField{name: t.name(gomem.Word(b, 0)), offset: gomem.Word(b, 16), typ: t.at(gomem.Word(b, 8))}
		if f.typ == 0 || f.offset > g.size {
			g.partial = true
			continue
		}
		fields = append(fields, f)
	}
	g.fields = fields
	return true
}

// nameOff is a type's name, which lies at an offset from the types of its module
// (runtime/type.go, resolveNameOff).
func (t *Types) nameOff(addr uint64, off uint32, tflag uint8) string {
	for i := range t.c.modules {
		m := &t.c.modules[i]
		if addr < m.types || addr >= m.typesEnd {
			continue
		}
		name := t.name(m.types + uint64(off))
		if tflag&(1<<1) != 0 { // TFlagExtraStar
			name = strings.TrimPrefix(name, "*")
		}
		return name
	}
	return fmt.Sprintf("a type made at run time (%#x)", addr)
}

// name reads an abi.Name: a byte of flags, a varint length, the text.
func (t *Types) name(addr uint64) string {
	var b [4]byte
	if addr == 0 || t.load(addr, b[:]) != nil {
		return ""
	}
	n, used := uint64(0), uint64(1)
	for shift := 0; used < 4; shift += 7 {
		c := b[used]
		used++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			break
		}
	}
	if n == 0 || n > 1<<14 {
		return ""
	}
	text := make([]byte, n)
	if t.load(addr+used, text) != nil {
		return ""
	}
	return string(text)
}

// funcName names the closure whose code begins at a run-time address.
func (t *Types) funcName(pc uint64) string {
	f, ok := t.c.bin.FuncAt(pc - t.c.bias)
	if !ok {
		return ""
	}
	return "func " + f.Name()
}

// Name is what an object of this type is called.
func (t *Types) Name(r TypeRef) string {
	g := &t.all[r.index()]
	switch {
	case r == 0:
		return "?"
	case r.array() && g.role == roleValue:
		return "[]" + g.name
	}
	return g.name
}
