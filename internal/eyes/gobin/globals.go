package gobin

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/eyes/gobin/signature"
)

// Symbol is the link-time address of a variable of package runtime
// ("runtime.mheap_"), or of one of the linker's own marks: runtime.text,
// runtime.etext. It knows no functions; FuncAt does. Locate says why ok is false.
func (b *Binary) Symbol(name string) (addr uint64, ok bool) {
	addr, err := b.Locate(name)
	return addr, err == nil
}

// Locate is Symbol with the reason why a variable is not found, in words for a
// user: ErrRefused where the program has it, but where is not sure.
func (b *Binary) Locate(name string) (addr uint64, err error) {
	if b.supported != nil {
		return 0, b.supported
	}
	if addr, ok := b.symbols[name]; ok {
		return addr, nil
	}
	if err := b.refused[name]; err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return 0, fmt.Errorf("%s: not in this program", name)
}

// locateGlobals readies Symbol. The symbol table knows best; without one the
// runtime's functions are asked where the variables are that they use.
func (b *Binary) locateGlobals() error {
	if b.recall() {
		return nil
	}
	err := b.findGlobals()
	if err == nil {
		b.remember()
	}
	return err
}

func (b *Binary) findGlobals() error {
	if _, ok := b.symbols["runtime.firstmoduledata"]; ok {
		b.FoundBy = "symbols"
		return nil
	}
	minor, patch, _ := parseVersion(b.GoVersion)
	exp := experimentKey(b.Experiments)
	set, ok := signature.Find(b.Arch, minor, patch, exp)
	if !ok {
		return fmt.Errorf("%w, and Highwater knows no signatures of Go 1.%d for %s, GOEXPERIMENT=%s", ErrStripped, minor, b.Arch, exp)
	}
	return b.elect(set)
}

// elect lets the runtime's functions say where the variables of a set are.
func (b *Binary) elect(set *signature.Set) error {
	code := b.functionsNamed(func(name []byte) bool { return set.Wants(name) || string(name) == schedinit })
	elected := set.Elect(code, b.isData)
	if e := elected["runtime.firstmoduledata"]; e.Err() == nil && e.Addr != b.module.addr {
		return fmt.Errorf("%w, and its functions use another moduledata (%#x) than was found (%#x)", ErrStripped, e.Addr, b.module.addr)
	}
	b.accept(elected, set)
	b.locateSwitch(code[schedinit])
	return nil
}

// accept takes over what was elected and keeps why the rest is refused.
func (b *Binary) accept(elected map[string]signature.Elected, set *signature.Set) {
	b.symbols, b.refused = make(map[string]uint64, len(elected)), make(map[string]error)
	votes, against := 0, 0
	for name, e := range elected {
		votes += e.For + e.Against
		against += e.Against
		if err := e.Err(); err != nil {
			b.refused[name] = fmt.Errorf("%w, and %w", ErrRefused, err)
			continue
		}
		b.symbols[name] = e.Addr
	}
	b.symbols["runtime.firstmoduledata"] = b.module.addr
	b.symbols["runtime.text"], b.symbols["runtime.etext"] = b.module.text, b.module.etext
	delete(b.refused, "runtime.firstmoduledata")
	b.FoundBy = fmt.Sprintf("signatures of %s, %d of %d votes against", set.Toolchain, against, votes)
}

const (
	schedinit     = "runtime.schedinit"
	disableSymbol = "runtime.disableMemoryProfiling"
	rateSymbol    = "runtime.MemProfileRate"
)

// locateSwitch finds the byte by which the linker switches heap profiling off. It
// will be written to, so the rate that goes with it must be the one elected.
func (b *Binary) locateSwitch(code []signature.Code) {
	b.refused[disableSymbol] = fmt.Errorf("%w, and its runtime.schedinit does not show it", ErrRefused)
	if len(code) != 1 {
		return
	}
	flag, rate, ok := signature.ProfilingSwitch(b.Arch, code[0])
	if !ok || rate != b.symbols[rateSymbol] || !b.isData(flag) {
		return
	}
	b.symbols[disableSymbol] = flag
	delete(b.refused, disableSymbol)
}

// isData says whether a link-time address is loaded, and not as code.
func (b *Binary) isData(addr uint64) bool {
	for _, s := range b.segments {
		if addr >= s.addr && addr-s.addr < s.size {
			return !s.exec
		}
	}
	return false
}

// functionsNamed gives the code of the functions of package runtime that are
// wanted, without the wrappers by which assembly calls Go and Go assembly: those
// have the names of what they call.
func (b *Binary) functionsNamed(want func(name []byte) bool) map[string][]signature.Code {
	found := make(map[string][]signature.Code)
	for i := range b.table.n {
		if i%(1<<14) == 0 {
			b.Release() // of a large program's table
		}
		name := b.table.runtimeName(i)
		if name == nil || !want(name) || len(found[string(name)]) == maxNamesakes {
			continue
		}
		if code, ok := b.codeOf(i); ok {
			found[string(name)] = append(found[string(name)], code)
		}
	}
	return found
}

// Hostile files may call all their functions alike.
const maxNamesakes = 3

// codeOf is the code of the i-th function, with the padding behind it.
func (b *Binary) codeOf(i int) (c signature.Code, ok bool) {
	lo, hi := b.table.entryOff(i), b.table.entryOff(i+1)
	c.PC = b.table.text + uint64(lo)
	c.Bytes = b.at(c.PC)
	if lo >= hi || c.Bytes == nil {
		return c, false
	}
	c.Bytes = c.Bytes[:min(uint64(len(c.Bytes)), uint64(hi-lo))]
	return c, true
}
