package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin/signature"
)

// wanted are the variables of package runtime that Highwater reads, or is likely
// to; a toolchain that has one of them not leaves it out.
var wanted = strings.Fields(`
	mbuckets bbuckets xbuckets buckhash mProfCycle MemProfileRate blockprofilerate mutexprofilerate
	mheap_ memstats gcController gcCPULimiter scavenge sweep work sched gcBlackenEnabled writeBarrier gcphase
	persistentChunks gcBitsArenas stackpool stackLarge
	allgs allglen allgptr allm allp gomaxprocs ncpu allfin finq fing fingStatus gcCleanups
	waitReasonStrings firstmoduledata modulesSlice ticks debug iscgo physPageSize
	worldsema panicking runningPanics trace m0
	ncgocall finqueued finexecuted startingStackSize extraMInUse extraMLength
`)

const (
	maxSites    = 16 // of a variable
	maxPerFunc  = 2  // of a variable in one function
	maxFunction = 6000
)

// function is one whose references name variables.
type function struct {
	hash  uint32
	refs  int
	sites []site
}

type site struct {
	variable string
	ref      int
	text     uint32
	addend   uint64
	common   bool // in a function that every program has
}

// measure reads a toolchain's programs, built as they say, and keeps the best sites
// of each variable.
func measure(tc toolchain, arch string, flags []string) (map[string]*function, error) {
	dir, err := os.MkdirTemp("", "siggen")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	exe, err := build(dir, empty, tc, arch, flags)
	if err != nil {
		return nil, err
	}
	everywhere, err := functions(exe, arch)
	if err != nil {
		return nil, err
	}
	if exe, err = build(dir, rich, tc, arch, flags); err != nil {
		return nil, err
	}
	all, err := functions(exe, arch)
	if err != nil {
		return nil, err
	}
	for name, f := range all {
		for i := range f.sites {
			f.sites[i].common = everywhere[name] != nil
		}
	}
	return choose(all), nil
}

// functions reads all functions of package runtime in an executable.
func functions(path, arch string) (map[string]*function, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	section := f.Section(".text")
	text, err := section.Data()
	if err != nil {
		return nil, err
	}
	vars := variables(symbols)
	all, sizes := map[string]*function{}, map[string]uint64{}
	for _, s := range symbols {
		name := strings.TrimSuffix(s.Name, ".abi0") // as the function table has it
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || !strings.HasPrefix(name, "runtime.") ||
			s.Value < section.Addr || s.Size > maxFunction ||
			s.Size <= sizes[name] { // a wrapper of the same name is the shorter
			continue
		}
		at := s.Value - section.Addr
		body, ok := signature.ReadBody(arch, nil, text[at:at+s.Size], s.Value)
		if !ok {
			return nil, fmt.Errorf("%s: an instruction is not known", s.Name)
		}
		all[name], sizes[name] = newFunction(body, vars), s.Size
	}
	return all, nil
}

// variables are the wanted ones in order of address.
func variables(symbols []elf.Symbol) []elf.Symbol {
	var vars []elf.Symbol
	for _, s := range symbols {
		name, ok := strings.CutPrefix(s.Name, "runtime.")
		if ok && elf.ST_TYPE(s.Info) == elf.STT_OBJECT && slices.Contains(wanted, name) {
			vars = append(vars, s)
		}
	}
	slices.SortFunc(vars, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return vars
}

func newFunction(body signature.Body, vars []elf.Symbol) *function {
	f := &function{hash: body.Hash, refs: len(body.Refs)}
	for k, r := range body.Refs {
		i, found := slices.BinarySearchFunc(vars, r.Target, func(s elf.Symbol, addr uint64) int { return cmp.Compare(s.Value, addr) })
		if !found {
			i--
		}
		if i >= 0 && r.Target-vars[i].Value < vars[i].Size {
			f.sites = append(f.sites, site{variable: vars[i].Name, ref: k, text: r.Text, addend: r.Target - vars[i].Value})
		}
	}
	return f
}

// choose keeps, for each variable, sites that most programs have, that name its
// start, in functions of few references.
func choose(all map[string]*function) map[string]*function {
	type candidate struct {
		name string
		site
	}
	candidates := map[string][]candidate{}
	for name, f := range all {
		for _, s := range f.sites {
			candidates[s.variable] = append(candidates[s.variable], candidate{name, s})
		}
	}
	chosen := map[string]*function{}
	for _, cs := range candidates {
		slices.SortFunc(cs, func(a, b candidate) int {
			return cmp.Or(
				-compareBool(a.common, b.common), -compareBool(a.addend == 0, b.addend == 0),
				cmp.Compare(all[a.name].refs, all[b.name].refs), cmp.Compare(a.name, b.name), cmp.Compare(a.ref, b.ref))
		})
		inFunc, n := map[string]int{}, 0
		for _, c := range cs {
			if inFunc[c.name]++; inFunc[c.name] > maxPerFunc || n == maxSites {
				continue
			}
			n++
			if chosen[c.name] == nil {
				chosen[c.name] = &function{hash: all[c.name].hash, refs: all[c.name].refs}
			}
			chosen[c.name].sites = append(chosen[c.name].sites, c.site)
		}
	}
	return chosen
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
