package watch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
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
func switchOn(mem *procfs.Memory, bin *gobin.Binary, bias uint64, rate int64) (sample.HeapProfileState, error) {
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

// runningState is whether a program that runs already keeps a heap profile, and
// keeps one from now on where that is asked for. A rate that is not 0 was set by
// the program itself or by an earlier watch, whatever the linker did.
func (s *Source) runningState(p *process) (sample.HeapProfileState, error) {
	state, err := profileState(p.mem, p.bin, p.bias)
	if err != nil {
		return state, err
	}
	if !p.begun() {
		return state, errNotBegun
	}
	rate, err := readRate(p.mem, p.bin, p.bias)
	switch {
	case err != nil:
		return sample.HeapProfileUnknown, err
	case rate == 0 && s.opts.EnableRunning:
		return s.enableRunning(p)
	case rate == 0:
		return sample.HeapProfileOff, nil
	case state == sample.HeapProfileOff:
		return sample.HeapProfileEnabled, nil
	}
	return state, nil
}

// begun says whether the runtime has been set up, which is done before it makes
// its second thread (runtime.main). It waits a little for a program that has just
// been started.
func (p *process) begun() bool {
	for range 100 {
		var r sample.Resident
		if err := p.watcher.Read(&r); err != nil || r.Threads > 1 {
			return err == nil
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

var errNotBegun = errors.New("it has not begun to run")

// enableRunning is the one thing that changes a program which runs: a store of
// Go's default rate to MemProfileRate. From Go 1.24 on it holds at once, before
// that as each processor's next sample comes (runtime/mcache.go, nextSample).
// All but one byte of both values are equal, so no thread sees half of it. In a
// stripped program the address is that of which all of the runtime's functions
// that were asked agree, schedinit among them, or it is none (see gobin).
func (s *Source) enableRunning(p *process) (sample.HeapProfileState, error) {
	addr, ok := p.bin.Symbol(rateSymbol)
	if at := addr + p.bias; !ok || at%8 != 0 {
		return sample.HeapProfileOff, fmt.Errorf("switch heap profiling on: %s is not where a word can be (%#x)", rateSymbol, at)
	}
	rw, err := procfs.OpenMemoryToWrite(p.root, p.readTID)
	if err != nil {
		return sample.HeapProfileOff, fmt.Errorf("switch heap profiling on: %w", err)
	}
	defer rw.Close()
	if was, err := readRate(rw, p.bin, p.bias); err != nil || was != 0 {
		return sample.HeapProfileOff, errors.Join(errors.New("switch heap profiling on: its rate changed meanwhile"), err)
	}
	if _, err := rw.WriteAt(binary.NativeEndian.AppendUint64(nil, defaultRate), int64(addr+p.bias)); err != nil {
		return sample.HeapProfileOff, fmt.Errorf("switch heap profiling on: %w", err)
	}
	if is, err := readRate(rw, p.bin, p.bias); err != nil || is != defaultRate {
		return sample.HeapProfileUnknown, errors.Join(fmt.Errorf("switch heap profiling on: its rate is %d after a write of %d", is, defaultRate), err)
	}
	s.gap(p.key, "what "+p.program.Name+" had allocated before it was watched", errEnabledLate)
	s.say("enabled heap profiling in %s, pid %d: %s 0 -> %d; memory allocated earlier has no line", p.program.Name, p.key.PID, rateSymbol, defaultRate)
	return sample.HeapProfileEnabled, nil
}

// defaultRate is Go's MemProfileRate (runtime/mprof.go).
const defaultRate = 512 << 10

var errEnabledLate = errors.New("--enable-heap-profile switched its heap profile on while it ran")

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
