package watch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/highwater-go/highwater/internal/gobin"
	"github.com/highwater-go/highwater/internal/sample"
)

// The linker sets this byte where nothing in the program reaches
// runtime.MemProfile; schedinit then sets MemProfileRate to 0
// (cmd/link/internal/ld/lib.go, runtime/proc.go).
const (
	disableSymbol = "runtime.disableMemoryProfiling"
	rateSymbol    = "runtime.MemProfileRate"
)

// switchOn makes the runtime that is about to start in a process held right
// after exec keep its heap profile: one byte, or none if the linker left it on;
// with a rate, the eight bytes of MemProfileRate too. It reports what the
// program's own heap profile then is.
func switchOn(mem *os.File, bin *gobin.Binary, bias uint64, rate int64) (sample.HeapProfileState, error) {
	state, err := profileState(mem, bin, bias)
	if err != nil {
		return sample.HeapProfileUnknown, err
	}
	if state == sample.HeapProfileOff {
		if now, err := readRate(mem, bin, bias); err != nil || now == 0 {
			return state, errTooLate // schedinit has run
		}
		addr, _ := bin.Symbol(disableSymbol)
		if _, err := mem.WriteAt([]byte{0}, int64(addr+bias)); err != nil {
			return state, fmt.Errorf("switch heap profiling on: %w", err)
		}
		state = sample.HeapProfileEnabled
	}
	if rate > 0 {
		addr, ok := bin.Symbol(rateSymbol)
		if !ok {
			return state, fmt.Errorf("set the profile rate: no symbol %s", rateSymbol)
		}
		if _, err := mem.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(rate)), int64(addr+bias)); err != nil {
			return state, fmt.Errorf("set the profile rate: %w", err)
		}
	}
	return state, nil
}

var errTooLate = errors.New("its linker switched heap profiling off, and it had started before that could be changed")

// readRate reads MemProfileRate.
func readRate(mem io.ReaderAt, bin *gobin.Binary, bias uint64) (int64, error) {
	addr, ok := bin.Symbol(rateSymbol)
	if !ok {
		return 0, fmt.Errorf("no symbol %s", rateSymbol)
	}
	var b [8]byte
	if _, err := mem.ReadAt(b[:], int64(addr+bias)); err != nil {
		return 0, fmt.Errorf("read the program's memory: %w", err)
	}
	return int64(binary.NativeEndian.Uint64(b[:])), nil
}

// profileState reads whether the linker switched the heap profile off.
func profileState(mem io.ReaderAt, bin *gobin.Binary, bias uint64) (sample.HeapProfileState, error) {
	addr, ok := bin.Symbol(disableSymbol)
	if !ok {
		return sample.HeapProfileUnknown, fmt.Errorf("no symbol %s", disableSymbol)
	}
	var b [1]byte
	if _, err := mem.ReadAt(b[:], int64(addr+bias)); err != nil {
		return sample.HeapProfileUnknown, fmt.Errorf("read the program's memory: %w", err)
	}
	if b[0] == 1 {
		return sample.HeapProfileOff, nil
	}
	return sample.HeapProfileOn, nil
}
