// Package gobin reads a Go executable from its file: what it was built from,
// where the runtime's variables lie, how the runtime's structs are laid out, and
// which functions and lines a program counter stands for.
//
// It opens the file, never the process: addresses are those of the ELF file
// ("link-time"). Whoever reads a live process adds the load bias:
//
//	bias = start of the file's first mapping (offset 0) - Base()
//
// The bias is 0 for a plain executable. The file is memory-mapped and read where
// it lies, so a large binary costs little heap.
//
// A symbol table is not needed. Functions, files and lines come from the function
// table, which no strip removes; the runtime's variables, without symbols, from the
// instructions of the runtime's functions (package signature), on amd64.
//
// Functions of what the program loads while it runs, plugins, are added by AddModule.
//
// What it is not: no DWARF of the target is read but for the types of its variables,
// and nothing is guessed. A file that was built for another architecture, as a
// plugin, or by a Go whose runtime is not in the table of layouts, still gives its build information; Supported says by
// name why the rest is refused, and Locate why a single variable is.
package gobin

import (
	"debug/elf"
	"fmt"
	"runtime/debug"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Binary is one open Go executable. Its fields are set by Open and must not be
// changed. Methods may be called by several goroutines; none after Close.
type Binary struct {
	Path string

	GoVersion   string   // "go1.26.8", without experiments
	Experiments []string // GOEXPERIMENT where it differs from the toolchain's default: "nogreenteagc"
	MainPackage string   // import path of package main, "" if unknown
	Module      sample.Module
	Deps        []sample.Module   // replaced modules by the replacement's version, under their own path
	Settings    map[string]string // as `go version -m` prints them: "-buildmode", "vcs.revision"
	BuildID     string            // Go's build ID, "" if none
	Arch        string            // GOARCH: "amd64"

	PIE bool // position-independent: loaded at a random address
	// CGO means that runtime/cgo is linked in, so C code and its allocator may hold memory that the Go runtime knows
	// nothing of. CGO_ENABLED=1 alone does not set it.
	CGO        bool
	HasSymbols bool // has a symbol table, which -ldflags=-s and strip remove
	// FoundBy says how the runtime's variables were found: "symbols", or "signatures
	// of go1.26.8, 0 of 2913 votes against"; "" if they were not.
	FoundBy string

	file      *mapping
	segments  []segment
	symtab    []byte // raw Elf64_Sym records
	strtab    []byte
	rela      []byte // raw Elf64_Rela records
	supported error  // why runtime data is refused; nil: it is not

	symbols map[string]uint64
	refused map[string]error // variables whose address is not sure
	module  *module          // nil with table
	table   *table           // nil where functions cannot be read

	added  *addedModules // what the program loaded while it ran: see AddModule
	closed bool
}

// Open opens the executable at path. A file that is no Go program is an error:
// ErrNotELF, ErrScript, ErrPacked, ErrGccgo, ErrTinyGo or ErrNotGo. A Go program that cannot be read
// fully is none; see Supported. The caller closes the Binary.
func Open(path string) (*Binary, error) {
	m, err := mapFile(path)
	if err != nil {
		return nil, err // names the operation and the path
	}
	if b := share(m, path); b != nil {
		return b, nil
	}
	b, err := read(m)
	if err != nil {
		m.close()
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	b.Path = path
	b.keepOpen()
	return b, nil
}

// Release takes the pages of the file that were read out of our resident set;
// what is needed again comes from the page cache. For watchers with a budget,
// after many Frames.
func (b *Binary) Release() {
	b.file.release(b.file.data)
	if b.table != nil {
		b.table.forgetLines()
	}
}

func read(m *mapping) (b *Binary, err error) {
	defer reportFault(debug.SetPanicOnFault(true), &err)
	if err := sniff(m.data); err != nil {
		return nil, err
	}
	f, err := openELF(m)
	if err != nil {
		return nil, err
	}
	b = &Binary{file: m, added: &addedModules{}}
	b.readHeaders(f)
	if err := b.readBuildInfo(f); err != nil {
		return nil, err
	}
	b.symbols = b.collectSymbols()
	b.supported = b.readRuntime(f)
	b.CGO = b.linksCgo(f)
	b.Release()
	return b, nil
}

// readRuntime finds what the program's runtime needs to be read by.
func (b *Binary) readRuntime(f *elf.File) error {
	if err := b.checkSupported(f); err != nil {
		return err
	}
	if err := b.openTable(f); err != nil {
		return err
	}
	return b.locateGlobals()
}

// Supported says why the runtime of this program cannot be read: one of ErrArch,
// ErrBuildMode, ErrObfuscated, ErrGccgo, ErrUnsupportedVersion,
// ErrUnsupportedExperiment, ErrStripped and ErrNoFunctions, in words for a user; nil
// if it can. Under ErrStripped functions and lines are known all the same.
func (b *Binary) Supported() error { return b.supported }

// GoProgram is what the executable says of itself, in the words of a recording.
func (b *Binary) GoProgram() *sample.GoProgram {
	return &sample.GoProgram{
		Version:       b.GoVersion,
		Experiments:   b.Experiments,
		Module:        b.Module.Path,
		ModuleVersion: b.Module.Version,
		MainPackage:   b.MainPackage,
		Revision:      b.Settings["vcs.revision"],
		BuildID:       b.BuildID,
		Arch:          b.Arch,
		PIE:           b.PIE,
		CGO:           b.CGO,
		Stripped:      !b.HasSymbols,
		Deps:          b.Deps,
		FoundBy:       b.FoundBy,
	}
}
