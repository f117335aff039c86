package gomem

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

// Resolver looks up addresses of runtime variables and offsets of their fields,
// and remembers what was missing, so that a feature is refused by the names it
// lacks and not one lookup at a time.
type Resolver struct {
	bin     *gobin.Binary
	Layout  *gobin.Layout
	bias    uint64
	Minor   int      // 26 for Go 1.26
	Missing []string // names, each with its reason
	Refused bool     // one of them is there, but where is not sure
}

// Resolve looks up what lies where in this runtime.
func (r *Runtime) Resolve() (*Resolver, error) {
	layout, err := r.bin.Layout()
	if err != nil {
		return nil, err
	}
	return &Resolver{bin: r.bin, Layout: layout, bias: r.bias, Minor: r.minor}, nil
}

// Addr is the run-time address of a variable of package runtime.
func (r *Resolver) Addr(name string) uint64 {
	a, err := r.bin.Locate("runtime." + name)
	if err != nil {
		r.Refused = r.Refused || errors.Is(err, gobin.ErrRefused)
		r.Miss(err.Error())
		return 0
	}
	return a + r.bias
}

// Miss notes once what is missing, and why.
func (r *Resolver) Miss(what string) {
	if !slices.Contains(r.Missing, what) {
		r.Missing = append(r.Missing, what)
	}
}

// MissField notes a field or a type that the layout does not have.
func (r *Resolver) MissField(name string) { r.Miss("runtime." + name + ": not in its layout") }

// Offset is where a field lies within a struct of package runtime; field may
// be a path ("sched.sp").
func (r *Resolver) Offset(typ, field string) uint64 {
	o, ok := r.Layout.Offset("runtime."+typ, field)
	if !ok {
		r.MissField(typ + "." + field)
	}
	return o
}

// FirstOffset is the first of the fields that the version at hand has.
func (r *Resolver) FirstOffset(typ string, fields ...string) uint64 {
	for _, f := range fields {
		if o, ok := r.Layout.Offset("runtime."+typ, f); ok {
			return o
		}
	}
	r.MissField(typ + "." + fields[0])
	return 0
}

// Number is an unsigned field whose size is the version's.
func (r *Resolver) Number(typ, field string) Number {
	n, ok := r.Layout.FieldSize("runtime."+typ, field)
	if ok && n != 1 && n != 2 && n != 4 && n != 8 {
		r.Miss("runtime." + typ + "." + field + ": not a number")
	}
	return Number{r.Offset(typ, field), n}
}

// Constant is the value of a constant of package runtime.
func (r *Resolver) Constant(name string) uint64 {
	v, ok := r.Layout.Const("runtime." + name)
	if !ok {
		r.MissField(name)
	}
	return uint64(v)
}

// Size is the size of a struct of package runtime.
func (r *Resolver) Size(typ string) uint64 {
	n, ok := r.Layout.Size("runtime." + typ)
	if !ok {
		r.MissField(typ)
	}
	return n
}

// maxNamed is how many of the missing an error names.
const maxNamed = 3

// Err names what was missing since the last call, and why.
func (r *Resolver) Err() error {
	missing := r.Missing
	r.Missing, r.Refused = nil, false
	if len(missing) == 0 {
		return nil
	}
	more := ""
	if n := len(missing) - maxNamed; n > 0 {
		missing, more = missing[:maxNamed], fmt.Sprintf("; and %d more", n)
	}
	return fmt.Errorf("%s: %s%s", r.bin.GoVersion, strings.Join(missing, "; "), more)
}
