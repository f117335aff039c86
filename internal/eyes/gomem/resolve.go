package gomem

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

// resolver looks up addresses of runtime variables and offsets of their fields,
// and remembers what was missing, so that a feature is refused by the names it
// lacks and not one lookup at a time.
type resolver struct {
	bin     *gobin.Binary
	layout  *gobin.Layout
	bias    uint64
	minor   int      // 26 for Go 1.26
	missing []string // names, each with its reason
	refused bool     // one of them is there, but where is not sure
}

// resolve looks up what lies where in this runtime.
func (r *Runtime) resolve() (*resolver, error) {
	layout, err := r.bin.Layout()
	if err != nil {
		return nil, err
	}
	return &resolver{bin: r.bin, layout: layout, bias: r.bias, minor: r.minor}, nil
}

// addr is the run-time address of a variable of package runtime.
func (r *resolver) addr(name string) uint64 {
	a, err := r.bin.Locate("runtime." + name)
	if err != nil {
		r.refused = r.refused || errors.Is(err, gobin.ErrRefused)
		r.miss(err.Error())
		return 0
	}
	return a + r.bias
}

// miss notes once what is missing, and why.
func (r *resolver) miss(what string) {
	if !slices.Contains(r.missing, what) {
		r.missing = append(r.missing, what)
	}
}

// missField notes a field or a type that the layout does not have.
func (r *resolver) missField(name string) { r.miss("runtime." + name + ": not in its layout") }

// offset is where a field lies within a struct of package runtime; field may
// be a path ("sched.sp").
func (r *resolver) offset(typ, field string) uint64 {
	o, ok := r.layout.Offset("runtime."+typ, field)
	if !ok {
		r.missField(typ + "." + field)
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
	r.missField(typ + "." + fields[0])
	return 0
}

// number is an unsigned field whose size is the version's.
func (r *resolver) number(typ, field string) number {
	n, ok := r.layout.FieldSize("runtime."+typ, field)
	if ok && n != 1 && n != 2 && n != 4 && n != 8 {
		r.miss("runtime." + typ + "." + field + ": not a number")
	}
	return number{r.offset(typ, field), n}
}

// constant is the value of a constant of package runtime.
func (r *resolver) constant(name string) uint64 {
	v, ok := r.layout.Const("runtime." + name)
	if !ok {
		r.missField(name)
	}
	return uint64(v)
}

// size is the size of a struct of package runtime.
func (r *resolver) size(typ string) uint64 {
	n, ok := r.layout.Size("runtime." + typ)
	if !ok {
		r.missField(typ)
	}
	return n
}

// maxNamed is how many of the missing an error names.
const maxNamed = 3

// err names what was missing since the last call, and why.
func (r *resolver) err() error {
	missing := r.missing
	r.missing, r.refused = nil, false
	if len(missing) == 0 {
		return nil
	}
	more := ""
	if n := len(missing) - maxNamed; n > 0 {
		missing, more = missing[:maxNamed], fmt.Sprintf("; and %d more", n)
	}
	return fmt.Errorf("%s: %s%s", r.bin.GoVersion, strings.Join(missing, "; "), more)
}
