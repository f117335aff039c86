package gomem

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/gobin"
)

// resolver looks up addresses of runtime variables and offsets of their fields,
// and remembers what was missing, so that a feature is refused by the names it
// lacks and not one lookup at a time.
type resolver struct {
	bin     *gobin.Binary
	layout  *gobin.Layout
	bias    uint64
	minor   int // 26 for Go 1.26
	missing []string
}

// addr is the run-time address of a variable of package runtime.
func (r *resolver) addr(name string) uint64 {
	a, ok := r.bin.Symbol("runtime." + name)
	if !ok {
		r.missing = append(r.missing, "runtime."+name)
		return 0
	}
	return a + r.bias
}

// offset is where a field lies within a struct of package runtime; field may
// be a path ("sched.sp").
func (r *resolver) offset(typ, field string) uint64 {
	o, ok := r.layout.Offset("runtime."+typ, field)
	if !ok {
		r.missing = append(r.missing, "runtime."+typ+"."+field)
	}
	return o
}

// firstOffset is the first of the fields that the version at hand has.
func (r *resolver) firstOffset(typ string, fields ...string) uint64 {
	for _, f := range fields {
		if o, ok := r.layout.Offset("runtime."+typ, f); ok {
			return o
		}
	}
	r.missing = append(r.missing, "runtime."+typ+"."+fields[0])
	return 0
}

// number is an unsigned field whose size is the version's.
func (r *resolver) number(typ, field string) number {
	n, ok := r.layout.FieldSize("runtime."+typ, field)
	if ok && n != 1 && n != 2 && n != 4 && n != 8 {
		r.missing = append(r.missing, "runtime."+typ+"."+field+" as a number")
	}
	return number{r.offset(typ, field), n}
}

// constant is the value of a constant of package runtime.
func (r *resolver) constant(name string) uint64 {
	v, ok := r.layout.Const("runtime." + name)
	if !ok {
		r.missing = append(r.missing, "runtime."+name)
	}
	return uint64(v)
}

// size is the size of a struct of package runtime.
func (r *resolver) size(typ string) uint64 {
	n, ok := r.layout.Size("runtime." + typ)
	if !ok {
		r.missing = append(r.missing, "runtime."+typ)
	}
	return n
}

// err names what was missing since the last call.
func (r *resolver) err() error {
	missing := r.missing
	r.missing = nil
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s: the executable does not say where %s is", r.bin.GoVersion, strings.Join(missing, ", "))
}
