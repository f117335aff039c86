package gobin

import (
	"runtime/debug"

	"github.com/highwater-go/highwater/internal/eyes/gobin/signature"
)

// References passes to fn, of each function that refers to one of the link-time addresses,
// all the addresses that its code names relative to the program counter, in the order of
// the instructions. fn must not keep them.
func (b *Binary) References(wanted []uint64, fn func(targets []uint64)) (err error) {
	defer reportFault(debug.SetPanicOnFault(true), &err)
	defer b.Release()
	w := wantedOf(wanted)
	if w == nil || b.table == nil {
		return nil
	}
	var refs []signature.Ref
	var targets []uint64
	for i := range b.table.n {
		if i%(1<<12) == 0 {
			b.Release()
		}
		code, ok := b.codeOf(i)
		if !ok || b.Arch == "amd64" && !w.mayBeIn(code) {
			continue
		}
		body, _ := signature.ReadBody(b.Arch, refs[:0], code.Bytes, code.PC)
		refs, targets = body.Refs, targets[:0]
		found := false
		for _, r := range body.Refs {
			targets = append(targets, r.Target)
			found = found || w.has(r.Target)
		}
		if found {
			fn(targets)
		}
	}
	return nil
}
