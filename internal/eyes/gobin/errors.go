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
	ErrGccgo  = errors.New("built by gccgo: Highwater reads what the standard toolchain (gc) builds")
	ErrTinyGo = errors.New("built by TinyGo: Highwater reads what the standard toolchain (gc) builds")
)

// What Supported and Layout refuse.
var (
	//lint:ignore ST1005 Highwater is a name
	ErrArch = errors.New("Highwater reads linux/amd64 and linux/arm64")
	//lint:ignore ST1005 Highwater is a name
	ErrBuildMode = errors.New("Highwater reads executables and C libraries (-buildmode=exe, pie, c-shared or c-archive)")
	//lint:ignore ST1005 Highwater is a name
	ErrUnsupportedVersion    = errors.New("Highwater reads Go 1.20 to 1.27")
	ErrUnsupportedExperiment = errors.New("its runtime's layout is not known to Highwater")
	ErrObfuscated            = errors.New("its version of Go is hidden, as garble does: Highwater cannot know its runtime")
	ErrStripped              = errors.New("stripped: the symbol table is missing (built with -ldflags=-s, or strip was run)")
	// ErrRefused is of a single variable: see Locate.
	ErrRefused     = errors.New("the program is stripped")
	ErrNoFunctions = errors.New("the function table (pclntab) cannot be read")
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

// The file may be cut by others while it is mapped; a read behind its new end
// faults. Whatever reads the mapping defers, directly,
//
//	defer ignoreFault(debug.SetPanicOnFault(true))
//
// and returns what it has so far, which is nothing.
func ignoreFault(old bool) {
	debug.SetPanicOnFault(old)
	if r := recover(); r != nil && !isFault(r) {
		panic(r)
	}
}

// reportFault is ignoreFault for functions that return an error.
func reportFault(old bool, err *error) {
	debug.SetPanicOnFault(old)
	if r := recover(); isFault(r) {
		*err = errors.New("the file became shorter while it was read")
	} else if r != nil {
		panic(r)
	}
}

// isFault knows a fault by its address: debug.SetPanicOnFault.
func isFault(r any) bool {
	_, ok := r.(interface{ Addr() uintptr })
	return ok
}

// catch turns any panic into an error, for debug/* packages that read foreign
// bytes. It must be deferred directly.
func catch(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("malformed: %v", r)
	}
}
