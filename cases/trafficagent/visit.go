package main

import (
	"strings"

	"github.com/highwater-go/highwater/cases/trafficagent/ir"
)

// walker visits every value of a witness, the outer before the inner.
type walker struct {
	copies bool // a new position, with a path of its own, at every node
	top    position
}

// position is where in a witness a walker is.
type position struct{ path []string }

// key is the name of the field that the walker is in, or "[]" in a list.
func (p *position) key() string { return p.path[len(p.path)-1] }

// String joins the whole path: "response.users.[].email".
func (p *position) String() string { return strings.Join(p.path, ".") }

// walk calls visit for each value. The position is valid until visit returns.
func (w *walker) walk(witness *ir.Witness, visit func(*position, *ir.Data)) {
	w.into(&w.top, "request", witness.Request, visit)
	w.into(&w.top, "response", witness.Response, visit)
}

func (w *walker) into(outer *position, step string, d *ir.Data, visit func(*position, *ir.Data)) {
	if d == nil {
		return
	}
	at := w.enter(outer, step)
	visit(at, d)
	switch v := d.Value.(type) {
	case *ir.Data_Struct:
		for name, field := range v.Struct.Fields {
			w.into(at, name, field, visit)
		}
	case *ir.Data_List:
		for _, element := range v.List.Elements {
			w.into(at, "[]", element, visit)
		}
	}
	w.leave(at)
}

// enter is one position that grows and shrinks with the depth, or, at fault,
// another one for each value.
func (w *walker) enter(outer *position, step string) *position {
	if w.copies {
		return &position{path: appendPath(outer.path, step)} // fault: visitor
	}
	outer.path = append(outer.path, step)
	return outer
}

func (w *walker) leave(at *position) {
	if !w.copies {
		at.path = at.path[:len(at.path)-1]
	}
}

func appendPath(path []string, step string) []string {
	longer := make([]string, len(path)+1) // also: visitor
	copy(longer, path)
	longer[len(path)] = step
	return longer
}
