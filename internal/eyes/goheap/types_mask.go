package goheap

// maxMask bounds the bytes of a type of which a mask is made.
const maxMask = 1 << 28

// mask is which words of the type at addr are pointers. Where the type does not
// say it, any word may be one.
func (t *Types) mask(addr uint64) *typeMask {
	i := t.at(addr)
	if i == 0 || t.all[i].size == 0 || t.all[i].size%8 != 0 {
		return &typeMask{words: 1, reach: 1}
	}
	g := &t.all[i]
	m := &typeMask{words: g.size / 8, reach: g.ptrBytes / 8}
	if g.ptrBytes <= maxMask {
		m.bits = t.maskOf(i, 0)
	}
	return m
}

// maskOf is a bit for each word of a type up to its last pointer, nil if that is not
// known.
func (t *Types) maskOf(i int32, depth int) []byte {
	g := &t.all[i]
	switch {
	case g.program || depth > maxNested:
		return nil
	case t.onDemand(g):
		return t.buildMask(g, depth)
	}
	bits := make([]byte, (g.ptrBytes/8+7)/8)
	if t.load(g.gcdata, bits) != nil {
		return nil
	}
	return bits
}

// onDemand says that gcdata is where the runtime notes a mask that it makes when a
// garbage collection needs it first (abi.TFlagGCMaskOnDemand, since Go 1.24). There
// may be none yet, or one that is being made.
func (t *Types) onDemand(g *goType) bool { return g.tflag&(1<<4) != 0 && !t.oldFlags() }

// buildMask makes such a mask as the runtime does (runtime/type.go, buildGCMask).
func (t *Types) buildMask(g *goType, depth int) []byte {
	bits := make([]byte, (g.ptrBytes/8+7)/8)
	switch {
	case g.kind == kindArray && g.elem != 0:
		e := &t.all[g.elem]
		elem := t.maskOf(g.elem, depth+1)
		if elem == nil || e.ptrBytes == 0 || e.size%8 != 0 {
			return nil
		}
		for at := uint64(0); at < g.ptrBytes; at += e.size {
			mark(bits, at/8, elem, e.ptrBytes/8)
		}
		return bits
	case g.kind == kindStruct && !g.partial:
		end := uint64(0) // of the fields before: none lies in another
		for _, f := range g.fields {
			ft := &t.all[f.typ]
			if ft.ptrBytes == 0 {
				continue
			}
			field := t.maskOf(f.typ, depth+1)
			if field == nil || f.offset < end || f.offset%8 != 0 || f.offset+ft.size > g.size {
				return nil
			}
			mark(bits, f.offset/8, field, ft.ptrBytes/8)
			end = f.offset + ft.size
		}
		return bits
	}
	return nil
}

// mark puts n bits of a mask into another, from one on, as far as there is room.
func mark(bits []byte, from uint64, mask []byte, n uint64) {
	for k := uint64(0); k < n && from+k < 8*uint64(len(bits)); k++ {
		if mask[k/8]>>(k%8)&1 != 0 {
			bits[(from+k)/8] |= 1 << ((from + k) % 8)
		}
	}
}

// oldFlags says that bit 4 of a type's flags is not yet the mask's: before Go 1.24
// it was TFlagUnrolledBitmap.
func (t *Types) oldFlags() bool {
	return t.c.minor < 24
}
