package main

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"slices"
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
	runtime.gcCPULimiterState runtime.cleanupQueue runtime.hmap runtime.timeHistogram
	runtime/pprof.labelMap runtime/pprof.LabelSet runtime/pprof.label internal/runtime/pprof/label.Set
	runtime.traceback runtime.unwinder runtime.stkframe runtime.spanInlineMarkBits runtime.semaRoot
	internal/abi.Type internal/abi.PtrType internal/abi.SliceType internal/abi.ArrayType internal/abi.StructType
	internal/abi.StructField internal/abi.ChanType internal/abi.FuncType internal/abi.InterfaceType internal/abi.UncommonType
	internal/abi.SwissMapType internal/abi.MapType internal/abi.ITab internal/abi.Name
	internal/runtime/maps.Map internal/runtime/maps.table internal/runtime/maps.groupsReference
`)

// constants are the prefixes of the names of the constants that go with them.
var constants = strings.Fields(`
	runtime._G runtime._P runtime._KindSpecial runtime.mSpan runtime.waitReason runtime.memProfile runtime.blockProfile
	runtime.mutexProfile runtime.heapArena runtime.pagesPerArena runtime.arena runtime.pageSize runtime.maxStack
	runtime.buckHashSize runtime.numSpanClasses runtime.memoryLimit runtime.scavenge runtime.minHeapForMetadataHeader
	internal/abi.FuncID internal/abi.FuncFlag internal/abi.PCDATA_ internal/abi.FUNCDATA_ internal/abi.TFlag internal/abi.Kind
	internal/runtime/gc.
`)

// renamed gives the constants of Go 1.20 the names that they have since.
var renamed = strings.NewReplacer(
	"runtime.funcID_normal", "internal/abi.FuncIDNormal", "runtime.funcID_wrapper", "internal/abi.FuncIDWrapper",
	"runtime.funcID_", "internal/abi.FuncID_", "runtime.funcFlag_", "internal/abi.FuncFlag",
	"runtime._PCDATA_", "internal/abi.PCDATA_", "runtime._FUNCDATA_", "internal/abi.FUNCDATA_",
)

// runtimeInfo is what one toolchain's runtime looks like.
type runtimeInfo struct {
	structs map[string]layout
	consts  map[string]int64
}

// layout is one struct as its DWARF has it.
type layout struct {
	size   int64
	fields []field // in order of declaration, nested ones after their struct
}

type field struct {
	path         string
	offset, size int64
}

// measure reads the structs and constants from an executable's DWARF; those that
// it does not hold are left out.
func measure(exe string) (*runtimeInfo, error) {
	f, err := elf.Open(exe)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	info := &runtimeInfo{structs: make(map[string]layout), consts: make(map[string]int64)}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return info, err
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		switch e.Tag {
		case dwarf.TagStructType:
			err = info.addStruct(d, e.Offset, name)
		case dwarf.TagConstant:
			info.addConst(name, e.Val(dwarf.AttrConstValue))
		}
		if err != nil {
			return nil, err
		}
	}
}

func (info *runtimeInfo) addStruct(d *dwarf.Data, off dwarf.Offset, name string) error {
	if !slices.Contains(structs, name) {
		return nil
	}
	t, err := d.Type(off)
	if err != nil {
		return fmt.Errorf("type %s: %w", name, err)
	}
	if st, ok := t.(*dwarf.StructType); ok && !st.Incomplete {
		info.structs[name] = layout{size: st.ByteSize, fields: flatten(nil, "", 0, st)}
	}
	return nil
}

func (info *runtimeInfo) addConst(name string, value any) {
	v, ok := value.(int64)
	name = renamed.Replace(name)
	if ok && slices.ContainsFunc(constants, func(p string) bool { return strings.HasPrefix(name, p) }) {
		info.consts[name] = v
	}
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
	atomic := strings.HasPrefix(st.StructName, "internal/runtime/atomic.") || strings.HasPrefix(st.StructName, "runtime/internal/atomic.") // since Go 1.23; before
	return !atomic && st.StructName != "string"
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
