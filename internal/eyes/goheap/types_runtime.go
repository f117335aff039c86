package goheap

// runtimeTypes are structs of the runtime of which programs have no descriptors, and
// what their fields point to: another of them, or a closure.
var runtimeTypes = []struct {
	name   string
	fields map[string]string
}{
	{"runtime.g", map[string]string{"_defer": "runtime._defer", "waiting": "runtime.sudog"}},
	{"runtime._defer", map[string]string{"link": "runtime._defer", "fn": "func"}},
	{"runtime.sudog", map[string]string{"next": "runtime.sudog", "prev": "runtime.sudog", "waitlink": "runtime.sudog", "waittail": "runtime.sudog"}},
}

// ofRuntime is the type of that name.
func (t *Types) ofRuntime(name string) int32 {
	for i := range runtimeTypes {
		if runtimeTypes[i].name == name {
			return t.as(uint64(i), roleRuntime)
		}
	}
	return 0
}

// lay takes name and size from the layout of the program's runtime.
func (t *Types) lay(g *goType) {
	g.name = runtimeTypes[g.addr].name
	if layout, err := t.c.bin.Layout(); err == nil {
		g.size, _ = layout.Size(g.name)
	}
}

// runtimeSlot is a field of such a struct; only those of the table have a label.
func (t *Types) runtimeSlot(typ int32, off uint64) slot {
	of := runtimeTypes[t.all[typ].addr]
	layout, err := t.c.bin.Layout()
	if err != nil {
		return slot{}
	}
	for field, to := range of.fields {
		if at, ok := layout.Offset(of.name, field); !ok || at != off {
			continue
		}
		s := slot{kind: slotPointer, elem: t.ofRuntime(to), label: t.label("." + field)}
		if to == "func" {
			s.kind = slotFunc
		}
		return s
	}
	return slot{}
}
