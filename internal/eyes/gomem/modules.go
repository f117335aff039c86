package gomem

import (
	"errors"
	"fmt"
)

// maxModules bounds the list of modules: one for the program, one a plugin.
const maxModules = 1 << 10

// ModuleReader follows the list of runtime.moduledata: the program, then the
// plugins that it has opened (runtime/symtab.go). Their functions are not in the
// executable's tables, and are read from memory.
type ModuleReader struct {
	first, next uint64       // address of the first; offset of moduledata.next
	variables   [2]Variables // offsets
	code        codePlaces
	learnt      map[uint64]bool // addresses of modules whose functions were read or refused
}

// maxImage bounds data and bss.
const maxImage = 4 << 30

// Variables are where a module's data or bss lies, and the mask that says which of its words are pointers, a bit
// each (runtime.bitvector).
type Variables struct{ Start, End, Mask uint64 }

func (mr *ModuleReader) attach(_ *Runtime, find *Resolver) error {
	at := func(field string) uint64 { return find.Offset("moduledata", field) }
	mr.first, mr.next = find.Addr("firstmoduledata"), at("next")
	mr.variables = [2]Variables{
		{at("data"), at("edata"), at("gcdatamask.bytedata")},
		{at("bss"), at("ebss"), at("gcbssmask.bytedata")},
	}
	mr.code.attach(find)
	return find.Err()
}

// List is the addresses of all modules.
func (mr *ModuleReader) List(m Memory) (all []uint64, err error) {
	for at := mr.first; at != 0; {
		if len(all) == maxModules {
			return nil, fmt.Errorf("more than %d modules", maxModules)
		}
		all = append(all, at)
		if at, err = m.U64(at + mr.next); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// VariablesOf is where the variables of the module at an address lie: data and bss.
func (mr *ModuleReader) VariablesOf(m Memory, addr uint64) (all [2]Variables, err error) {
	for i, at := range mr.variables {
		v := &all[i]
		for _, field := range []struct {
			to  *uint64
			off uint64
		}{{&v.Start, at.Start}, {&v.End, at.End}, {&v.Mask, at.Mask}} {
			if *field.to, err = m.U64(addr + field.off); err != nil {
				return all, err
			}
		}
		if v.Start > v.End || v.End-v.Start > maxImage {
			return all, fmt.Errorf("data from %#x to %#x", v.Start, v.End)
		}
	}
	return all, nil
}

// LearnModules makes the functions known of what the program has loaded since the
// last call, and says how many modules it has. A module that cannot be read is told
// by Why(FeaturePlugins); its addresses stay without names.
func (r *Runtime) LearnModules() (modules int, err error) {
	all, err := r.modules.List(r.mem)
	if err != nil {
		return 0, err
	}
	for i, at := range all {
		if i == 0 || r.modules.learnt[at] {
			continue
		}
		if r.modules.learnt == nil {
			r.modules.learnt = make(map[uint64]bool)
		}
		r.modules.learnt[at] = true
		if err := r.learn(at); err != nil {
			err = fmt.Errorf("%s: the module at %#x: %w", FeaturePlugins, at, err)
			r.why[FeaturePlugins] = errors.Join(r.why[FeaturePlugins], err)
		}
	}
	return len(all), nil
}

// learn reads the functions of the module at an address.
func (r *Runtime) learn(addr uint64) error {
	m, err := r.modules.code.read(r.mem, addr, r.bias)
	if err == nil {
		err = r.bin.AddModule(m)
	}
	if err == nil {
		r.goroutines.code.forget()
	}
	return err
}
