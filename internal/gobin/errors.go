package gobin

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
)

// What Open refuses. The texts are shown to users.
var (
	ErrNotELF = errors.New("not a Linux executable (ELF)")
	ErrScript = errors.New("a script, not an executable")
	ErrPacked = errors.New("a packed executable (UPX): unpack it first (upx -d)")
	ErrNotGo  = errors.New("not a Go program")
)

// What Supported and Layout refuse.
var (
	ErrArch                  = errors.New("Highwater reads linux/amd64")
	ErrBuildMode             = errors.New("Highwater reads executables (-buildmode=exe or pie)")
	ErrUnsupportedVersion    = errors.New("Highwater reads Go 1.24 to 1.27")
	ErrUnsupportedExperiment = errors.New("its runtime's layout is not known to Highwater")
	ErrStripped              = errors.New("stripped: the symbol table is missing (built with -ldflags=-s, or strip was run)")
	ErrNoFunctions           = errors.New("the function table (pclntab) cannot be read")
)

// sniff names the common files that are no ELF executable.
func sniff(b []byte) error {
	switch {
	case bytes.HasPrefix(b, []byte("#!")):
		line, _, _ := bytes.Cut(b[2:min(len(b), 256)], []byte("\n"))
		return fmt.Errorf("%w: %q runs it", ErrScript, bytes.TrimSpace(line))
	case !bytes.HasPrefix(b, []byte("\x7fELF")):
		return ErrNotELF
	case bytes.Contains(b[:min(len(b), 1024)], []byte("UPX!")):
		return ErrPacked
	}
	return nil
}

// guard turns a fault in the mapping into an error: the file may be cut by
// others while it is mapped, and a read behind its new end faults. It must be
// deferred directly. Other panics go on.
func guard(err *error) {
	switch r := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }: // runtime.Error of a fault, see debug.SetPanicOnFault
		*err = errors.New("the file became shorter while it was read")
	default:
		panic(r)
	}
}

// panicOnFault makes faults of this goroutine recoverable until the function it
// returns is called.
func panicOnFault() (restore func()) {
	old := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(old) }
}
