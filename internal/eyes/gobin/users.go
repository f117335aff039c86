package gobin

import (
	"encoding/binary"
	"runtime/debug"

	"github.com/highwater-go/highwater/internal/eyes/gobin/signature"
)

// maxUsersRange bounds the variables among which users are looked for, in bytes.
const maxUsersRange = 1 << 30

// Users names, of each of the link-time addresses of variables, the first function in the
// order of the code that reads or writes it or takes its address: without a symbol table
// that is what says whose it is. Packages lie behind those that they import, so that it is
// mostly a function of the variable's own package (of five in six of a small program's); of
// another where all of its own were inlined there. What no function names by itself, as
// the middle of an array, is not among them.
func (b *Binary) Users(variables []uint64) (first map[uint64]string, err error) {
	defer reportFault(debug.SetPanicOnFault(true), &err)
	defer b.Release()
	first = make(map[uint64]string)
	w := wantedOf(variables)
	if w == nil || b.table == nil {
		return first, nil
	}
	var refs []signature.Ref
	for i := range b.table.n {
		if i%(1<<12) == 0 {
			b.Release()
		}
		code, ok := b.codeOf(i)
		if !ok || b.Arch == "amd64" && !w.mayBeIn(code) {
			continue
		}
		body, _ := signature.ReadBody(b.Arch, refs[:0], code.Bytes, code.PC)
		name := ""
		for _, r := range body.Refs {
			if !w.has(r.Target) {
				continue
			}
			if name == "" {
				f, _ := b.FuncAt(code.PC)
				name = f.Name()
			}
			first[r.Target] = name
			w.drop(r.Target)
		}
		refs = body.Refs
	}
	return first, nil
}

// UsedBy is Users the other way round: the link-time addresses that the code of a function refers to, variables and
// functions. None where the program has no function of that name, or several.
func (b *Binary) UsedBy(function string) (addrs []uint64) {
	defer ignoreFault(debug.SetPanicOnFault(true))
	i, ok := b.indexOf(function)
	if !ok {
		return nil
	}
	code, _ := b.codeOf(i)
	body, _ := signature.ReadBody(b.Arch, nil, code.Bytes, code.PC)
	for _, r := range body.Refs {
		addrs = append(addrs, r.Target)
	}
	return addrs
}

// wanted is a set of addresses, a bit each.
type wanted struct {
	lo, n uint64
	bits  []uint64
}

// wantedOf is nil for none, or for some that lie too far apart.
func wantedOf(variables []uint64) *wanted {
	if len(variables) == 0 {
		return nil
	}
	lo, hi := variables[0], variables[0]
	for _, a := range variables {
		lo, hi = min(lo, a), max(hi, a)
	}
	if hi-lo > maxUsersRange {
		return nil
	}
	w := &wanted{lo: lo, n: hi - lo + 1, bits: make([]uint64, (hi-lo)/64+1)}
	for _, a := range variables {
		w.bits[(a-lo)/64] |= 1 << ((a - lo) % 64)
	}
	return w
}

func (w *wanted) has(a uint64) bool {
	a -= w.lo
	return a < w.n && w.bits[a/64]>>(a%64)&1 != 0
}

func (w *wanted) drop(a uint64) { w.bits[(a-w.lo)/64] &^= 1 << ((a - w.lo) % 64) }

// mayBeIn says whether four bytes of a function of amd64, taken as a displacement behind
// which there is no immediate or one of 1, 2 or 4 bytes, lead to a variable. That takes a
// fiftieth of what decoding all functions does.
func (w *wanted) mayBeIn(c signature.Code) bool {
	for at := 0; at+4 <= len(c.Bytes); at++ {
		to := c.PC + uint64(at) + 4 + uint64(int64(int32(binary.LittleEndian.Uint32(c.Bytes[at:]))))
		if to+4-w.lo < w.n+4 && (w.has(to) || w.has(to+1) || w.has(to+2) || w.has(to+4)) {
			return true
		}
	}
	return false
}
