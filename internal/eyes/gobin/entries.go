package gobin

import (
	"debug/dwarf"
	"errors"
)

// entries are the entries of DWARF 2 to 5 that lie outside of functions, those of
// packages' variables and of types. debug/dwarf makes values of all attributes of all
// entries, two million of a program of 35 MB; here those of functions are passed over
// (docs/adr/0022).
type entries struct {
	abbrev, info, str, lineStr, strOffsets, addr []byte

	kinds map[uint64]map[uint64]*entryKind // by where they begin in abbrev, by code
	attrs int                              // of all kinds
	unit  entryUnit
	at    uint64 // in info
	entry entry
}

// entry is what is used of one. What it does not have is zero.
type entry struct {
	tag     dwarf.Tag
	offset  uint64
	name    []byte
	typ     uint64 // offset of its type's entry
	runtime uint64 // attrRuntimeType
}

// entryUnit is a compilation unit (DWARF 5, section 7.5.1).
type entryUnit struct {
	begin, end         uint64
	version            uint16
	addrSize, wordSize uint64 // of an address, and of an offset: 4 or 8
	strBase, addrBase  uint64
	kinds              map[uint64]*entryKind
}

// entryKind is an abbreviation: what entries of one code consist of (section 7.5.3).
type entryKind struct {
	tag      dwarf.Tag
	children bool
	bases    bool // the entry of a unit itself, which may say where its tables begin
	attrs    []entryAttr
}

type entryAttr struct {
	attr    dwarf.Attr
	form    uint64
	written form   // as form says
	value   uint64 // of formImplicit
}

// Kinds of units that have more in their headers (section 7.5.1).
const (
	unitType      = 0x02
	unitSkeleton  = 0x04
	unitSplit     = 0x05
	unitSplitType = 0x06
)

// maxAttrs bounds the attributes of all kinds: a unit may begin its kinds anywhere, so
// that without it the same bytes would be read once for each unit.
const maxAttrs = 1 << 20

var errEntries = errors.New("its entries make no sense")

// each passes the entries to fn, which may use each until the next. It panics where they
// end too early.
func (r *entries) each(fn func(*entry)) error {
	r.kinds = make(map[uint64]map[uint64]*entryKind)
	for r.at = 0; r.at < uint64(len(r.info)); r.at = r.unit.end {
		if err := r.header(); err != nil {
			return err
		}
		for depth, function := 0, 0; r.at < r.unit.end; { // function: how deep that lies what is passed over
			at := r.at
			code := r.uleb()
			if code == 0 {
				if depth--; depth < function {
					function = 0
				}
				continue
			}
			kind := r.unit.kinds[code]
			switch {
			case kind == nil:
				return errEntries
			case function > 0:
				r.passOver(kind)
			default:
				r.entry = entry{tag: kind.tag, offset: at}
				r.read(kind)
				fn(&r.entry)
			}
			if kind.children {
				if depth++; function == 0 && kind.tag == dwarf.TagSubprogram {
					function = depth
				}
			}
		}
	}
	return nil
}

// header reads a unit's.
func (r *entries) header() error {
	u := entryUnit{begin: r.at, wordSize: 4}
	length := r.fixed(4)
	if length == 1<<32-1 {
		u.wordSize, length = 8, r.fixed(8)
	}
	if length > uint64(len(r.info))-r.at {
		return errEntries
	}
	u.end = r.at + length
	u.version = uint16(r.fixed(2))
	var kinds uint64
	switch {
	case u.version >= 2 && u.version <= 4:
		kinds, u.addrSize = r.fixed(u.wordSize), r.fixed(1)
	case u.version == 5:
		unit := r.fixed(1)
		u.addrSize, kinds = r.fixed(1), r.fixed(u.wordSize)
		switch unit {
		case unitSkeleton, unitSplit:
			r.at += 8
		case unitType, unitSplitType:
			r.at += 8 + u.wordSize
		}
	default:
		return errEntries
	}
	var err error
	u.kinds, err = r.kindsAt(kinds)
	r.unit = u
	return err
}

// kindsAt reads the abbreviations from an offset on; most units share theirs.
func (r *entries) kindsAt(offset uint64) (map[uint64]*entryKind, error) {
	if kinds, ok := r.kinds[offset]; ok {
		return kinds, nil
	}
	kinds := make(map[uint64]*entryKind)
	t := entries{info: r.abbrev, at: offset}
	for {
		code := t.uleb()
		if code == 0 {
			r.kinds[offset] = kinds
			return kinds, nil
		}
		kind := &entryKind{tag: dwarf.Tag(t.uleb()), children: t.fixed(1) != 0}
		switch kind.tag {
		case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagTypeUnit, dwarf.TagSkeletonUnit:
			kind.bases = true
		}
		for {
			a := entryAttr{attr: dwarf.Attr(t.uleb()), form: t.uleb()}
			a.written = formOf(a.form)
			if a.form == formImplicit {
				a.value = t.uleb()
			}
			if a.attr == 0 && a.form == 0 {
				break
			}
			if kind.attrs = append(kind.attrs, a); r.attrs > maxAttrs {
				return nil, errEntries
			}
			r.attrs++
		}
		kinds[code] = kind
	}
}

// passOver reads no attribute.
func (r *entries) passOver(kind *entryKind) {
	for i := range kind.attrs {
		r.value(&kind.attrs[i])
	}
}

// read reads the attributes that are used.
func (r *entries) read(kind *entryKind) {
	e, u := &r.entry, &r.unit
	for i := range kind.attrs {
		a := &kind.attrs[i]
		if a.attr == dwarf.AttrName && !kind.bases { // a unit's may lie in a table that begins where it says later
			e.name = r.text(a)
			continue
		}
		v, of := r.value(a)
		switch a.attr {
		case dwarf.AttrType:
			if e.typ = v; of == aPlaceInUnit {
				e.typ += u.begin
			}
		case attrRuntimeType:
			if e.runtime = v; of == anAddress {
				e.runtime = numberAt(r.addr, u.addrBase+v*u.addrSize, u.addrSize)
			}
		case dwarf.AttrStrOffsetsBase:
			u.strBase = v
		case dwarf.AttrAddrBase:
			u.addrBase = v
		}
	}
}
