package gobin

import (
	"bytes"
	"debug/elf"
	"runtime/debug"
)

// Tracing is whether a program traces others by ptrace(2), as far as its executable
// tells.
type Tracing int

const (
	// NoTracer calls nothing by which it could.
	NoTracer Tracing = iota
	// MayTrace makes system calls by their number, of which ptrace may be one.
	MayTrace
	// Traces has calls of ptrace: a debugger, strace, another Highwater.
	Traces
)

// maxImports bounds the names of what an executable takes from libraries.
const maxImports = 32 << 20

// TracingOf tells from the executable at path. What is not an ELF file is NoTracer, and
// so is a script: it is run by another executable.
func TracingOf(path string) (t Tracing) {
	defer ignoreFault(debug.SetPanicOnFault(true))
	m, err := mapFile(path)
	if err != nil {
		return NoTracer
	}
	defer m.close()
	f, err := openELF(m)
	if err != nil {
		return NoTracer
	}
	if t = importedTracing(m, f); t == Traces || !hasFunctionTable(f) {
		return t
	}
	if b, err := Open(path); err == nil {
		defer b.Close()
		return b.Tracing()
	}
	return MayTrace
}

// hasFunctionTable says whether the linker of Go made a file, as far as its sections tell.
func hasFunctionTable(f *elf.File) bool {
	return f.Section(".gopclntab") != nil || f.Section(".data.rel.ro.gopclntab") != nil
}

// Tracing tells from the functions that the linker kept, inlined ones included: those
// that nobody calls it leaves out. The wrappers of packages syscall and
// golang.org/x/sys/unix are called PtraceAttach, PtraceCont, ...
func (b *Binary) Tracing() (t Tracing) {
	t = MayTrace // syscall.RawSyscall is in every program
	defer ignoreFault(debug.SetPanicOnFault(true))
	if b.table == nil {
		return t
	}
	t, _ = Shared(b, 0, func() (Tracing, error) { return b.keptTracing(), nil })
	return t
}

// keptTracing looks through the names of the functions.
func (b *Binary) keptTracing() Tracing {
	defer b.Release()
	names := b.table.names
	if n := len(names) - len(b.table.cus); n >= 0 { // the next part of the function table
		names = names[:n]
	}
	if bytes.Contains(names, []byte(".Ptrace")) {
		return Traces
	}
	return MayTrace
}

// importedTracing tells from the names that a program of C takes from libraries. One that
// takes none holds its system calls itself.
func importedTracing(m *mapping, f *elf.File) Tracing {
	s := f.Section(".dynstr")
	if s == nil || s.Flags&elf.SHF_COMPRESSED != 0 || s.Size > maxImports || s.Offset > uint64(len(m.data)) {
		return MayTrace
	}
	names := m.data[s.Offset:]
	names = names[:min(uint64(len(names)), s.Size)]
	switch {
	case bytes.Contains(names, []byte("\x00ptrace\x00")):
		return Traces
	case bytes.Contains(names, []byte("\x00syscall\x00")):
		return MayTrace
	}
	return NoTracer
}
