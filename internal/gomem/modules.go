package gomem

import "fmt"

// maxModules bounds the list of modules: one for the program, one a plugin.
const maxModules = 1 << 10

// moduleReader follows the list of runtime.moduledata: the program, then the
// plugins that it has opened (runtime/symtab.go). Other modules' functions are
// not in the executable's tables.
type moduleReader struct {
	first, next uint64 // address of the first; offset of moduledata.next
	variables   [2]variables
}

// variables are offsets in a moduledata of where a module's data or bss lies and
// which of its words are pointers.
type variables struct{ start, end, mask uint64 }

func (mr *moduleReader) attach(find *resolver) {
	at := func(field string) uint64 { return find.offset("moduledata", field) }
	mr.first, mr.next = find.addr("firstmoduledata"), at("next")
	mr.variables = [2]variables{
		{at("data"), at("edata"), at("gcdatamask.bytedata")},
		{at("bss"), at("ebss"), at("gcbssmask.bytedata")},
	}
}

// list is the addresses of all modules.
func (mr *moduleReader) list(m memory) (all []uint64, err error) {
	for at := mr.first; at != 0; {
		if len(all) == maxModules {
			return nil, fmt.Errorf("more than %d modules", maxModules)
		}
		all = append(all, at)
		if at, err = m.u64(at + mr.next); err != nil {
			return nil, err
		}
	}
	return all, nil
}
