package goheap

import (
	"cmp"
	"slices"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

// static is a value that the compiler has put into the data of a program, as that of
// `var front = &frontend{}`. It has no name; what points to it has.
type static struct {
	addr, size uint64 // run-time
	of         gobin.Variable
	typ        int32 // 0: not known
}

// unknownStatic is how much of a value whose type is not known is taken for its.
const unknownStatic = 64

// findStatics finds the values without a name to which variables point.
func (ro *rooter) findStatics() {
	for i := range ro.c.modules {
		for _, v := range ro.c.modules[i].variables {
			b := ro.c.at(v.Start)
			for off := uint64(0); off+8 <= min(uint64(len(b)), v.End-v.Start); off += 8 {
				if to := gomem.Word(b, off); ro.isVariable(to) {
					ro.addStatic(v.Start+off, to)
				}
			}
		}
	}
	slices.SortFunc(ro.statics, func(x, y static) int { return cmp.Compare(x.addr, y.addr) })
	ro.statics = slices.CompactFunc(ro.statics, func(x, y static) bool { return x.addr == y.addr })
}

// isVariable says whether an address lies in some module's variables.
func (ro *rooter) isVariable(addr uint64) bool {
	for i := range ro.c.modules {
		for _, v := range ro.c.modules[i].variables {
			if addr >= v.Start && addr < v.End {
				return addr%8 == 0
			}
		}
	}
	return false
}

// addStatic notes what a word of a variable points to, if that has no name.
func (ro *rooter) addStatic(from, to uint64) {
	bias := ro.c.bias
	if at := ro.variable(to - bias); at.Name != nameless(to-bias) {
		return
	}
	of := ro.variable(from - bias)
	s := static{addr: to, size: min(unknownStatic, ro.untilNext(to-bias)), of: *of}
	if typ := ro.typeOf(of); typ != 0 && from == of.Addr+bias {
		if g := &ro.types.all[typ]; g.kind == kindPointer && g.elem != 0 {
			s.typ, s.size = g.elem, ro.types.all[g.elem].size
		}
	}
	ro.statics = append(ro.statics, s)
}

// untilNext is how many bytes lie between a link-time address and the variable with a name that comes next.
func (ro *rooter) untilNext(addr uint64) uint64 {
	i, _ := slices.BinarySearchFunc(ro.variables, addr, func(v gobin.Variable, a uint64) int { return cmp.Compare(v.Addr, a) })
	if i == len(ro.variables) {
		return unknownStatic
	}
	return ro.variables[i].Addr - addr
}

// staticAt is the value without a name that an address lies in, nil if there is none.
func (ro *rooter) staticAt(addr uint64) *static {
	i, ok := slices.BinarySearchFunc(ro.statics, addr, func(s static, a uint64) int { return cmp.Compare(s.addr, a) })
	if !ok {
		i--
	}
	if i < 0 || addr-ro.statics[i].addr >= ro.statics[i].size {
		return nil
	}
	return &ro.statics[i]
}
