package main

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"strings"
)

// structs are the runtime's types that Highwater reads, or is likely to.
var structs = strings.Fields(`
	runtime.g runtime.gobuf runtime.stack runtime.gList runtime.gQueue runtime.sudog runtime.hchan runtime.waitq
	runtime._defer runtime._panic runtime.m runtime.p runtime.schedt runtime.mutex
	runtime.bucket runtime.memRecord runtime.memRecordCycle runtime.blockRecord
	runtime.mheap runtime.heapArena runtime.arenaHint runtime.mspan runtime.mSpanList runtime.mcache runtime.mcentral
	runtime.pageAlloc runtime.pageCache runtime.pallocData runtime.gcBits runtime.gcBitsArena runtime.fixalloc
	runtime.linearAlloc runtime.notInHeap runtime.persistentAlloc runtime.stackfreelist runtime.stackpoolItem
	runtime.special runtime.specialprofile runtime.specialfinalizer runtime.specialCleanup runtime.finalizer runtime.finblock
	runtime.mstats runtime.consistentHeapStats runtime.heapStatsDelta runtime.cpuStats
	runtime.gcControllerState runtime.workType runtime.gcWork runtime.limiterEvent runtime.scavengeIndex
	runtime.moduledata runtime.pcHeader runtime.functab runtime._func runtime.funcInfo runtime.inlinedCall runtime.bitvector
	runtime.itab runtime.eface runtime.iface runtime.funcval runtime.slice runtime.stringStruct runtime.timer runtime.timers
	runtime.traceback runtime.unwinder runtime.stkframe runtime.spanInlineMarkBits runtime.semaRoot
	internal/abi.Type internal/abi.PtrType internal/abi.SliceType internal/abi.ArrayType internal/abi.StructType
	internal/abi.StructField internal/abi.ChanType internal/abi.FuncType internal/abi.InterfaceType internal/abi.UncommonType
	internal/abi.SwissMapType internal/abi.MapType internal/abi.ITab internal/abi.Name
	internal/runtime/maps.Map internal/runtime/maps.table internal/runtime/maps.groupsReference
`)

// layout is one struct as its DWARF has it.
type layout struct {
	size   int64
	fields []field // in order of declaration, nested ones after their struct
}

type field struct {
	path         string
	offset, size int64
}

// measure reads the layouts of structs from an executable's DWARF; those that
// it does not hold are left out.
func measure(exe string) (map[string]layout, error) {
	f, err := elf.Open(exe)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(structs))
	for _, s := range structs {
		wanted[s] = true
	}
	found := make(map[string]layout)
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		if e.Tag != dwarf.TagStructType || !wanted[name] {
			continue
		}
		t, err := d.Type(e.Offset)
		if err != nil {
			return nil, fmt.Errorf("type %s: %w", name, err)
		}
		if st, ok := t.(*dwarf.StructType); ok && !st.Incomplete {
			found[name] = layout{size: st.ByteSize, fields: flatten(nil, "", 0, st)}
		}
	}
	return found, nil
}

// flatten appends the fields of st at base, each followed by the fields of the
// struct it holds. The insides of atomics and of the runtime's markers are noise.
func flatten(dst []field, prefix string, base int64, st *dwarf.StructType) []field {
	for _, f := range st.Field {
		if f.Name == "_" || f.Type.Size() == 0 && strings.HasSuffix(f.Type.String(), "NotInHeap") {
			continue
		}
		dst = append(dst, field{prefix + f.Name, base + f.ByteOffset, f.Type.Size()})
		if inner, ok := plain(f.Type).(*dwarf.StructType); ok && descend(inner) {
			dst = flatten(dst, prefix+f.Name+".", base+f.ByteOffset, inner)
		}
	}
	return dst
}

func descend(st *dwarf.StructType) bool {
	return !strings.HasPrefix(st.StructName, "internal/runtime/atomic.") && st.StructName != "string"
}

func plain(t dwarf.Type) dwarf.Type {
	for {
		td, ok := t.(*dwarf.TypedefType)
		if !ok {
			return t
		}
		t = td.Type
	}
}
