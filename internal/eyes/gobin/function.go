package gobin

import "runtime/debug"

// Func is one function of the executable, as an unwinder needs it.
type Func struct {
	Entry    uint64 // link-time address of its first instruction
	FuncID   uint8  // internal/abi.FuncID; its numbers change with Go's version
	TopFrame bool   // a stack ends here: runtime.goexit, runtime.mstart, ...
	SPWrite  bool   // it sets the stack pointer by itself: runtime.gogo, runtime.mcall, ...
	Assembly bool
	Wrapper  bool // made by the compiler; see Frame.Wrapper

	f function
}

// FuncAt is the physical function whose code holds the link-time pc. It
// allocates nothing.
func (b *Binary) FuncAt(pc uint64) (fn Func, ok bool) {
	defer ignoreFault(debug.SetPanicOnFault(true))
	f, ok := b.find(pc)
	if !ok {
		return Func{}, false
	}
	flags := f.flags()
	return Func{
		Entry: f.entry, FuncID: f.id(), Wrapper: f.id() == f.t.ids.wrapper, f: f,
		TopFrame: flags&flagTopFrame != 0, SPWrite: flags&flagSPWrite != 0, Assembly: flags&flagAssembly != 0,
	}, true
}

// Name is the function's name as in Frame.Func.
func (fn Func) Name() string {
	if fn.f.t == nil {
		return ""
	}
	defer ignoreFault(debug.SetPanicOnFault(true))
	return printName(fn.f.t.symbolName(fn.f.nameOff()))
}

// SPDelta is how far the stack pointer is below its value at the function's
// entry when pc is about to run; the return address lies at SP + SPDelta(pc).
// ok is false if the function's table does not say.
func (fn Func) SPDelta(pc uint64) (delta int32, ok bool) {
	if fn.f.t == nil {
		return 0, false
	}
	defer ignoreFault(debug.SetPanicOnFault(true))
	return fn.f.value(fn.f.spTable(), pc)
}
