package app

import (
	"fmt"
	"strconv"

	"github.com/highwater-go/highwater/internal/measure/heapgraph"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// printPath prints the shortest way from a root to an object.
func (f HeapFlags) printPath(s *Streams, a *heapgraph.Analysis) error {
	addr, err := strconv.ParseUint(f.Path, 0, 64)
	if err != nil {
		return Usagef("--path 0xc000123400", "--path %s is not an address", f.Path)
	}
	object, ok := a.Objects.At(addr)
	if !ok {
		return &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("no object lies at %#x", addr)}
	}
	way := a.Way(object)
	if way == nil {
		return &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("nothing leads to the object at %#x: it is garbage", addr)}
	}
	visible.Fprintf(s.Out, "%s go with the object at %s, which is held by %s\n", units.Size(a.Retained(object)), f.Path, a.PathOf(object))
	visible.Fprintf(s.Out, "the shortest way to it:\n")
	for _, step := range way {
		if step.Address == 0 {
			visible.Fprintf(s.Out, "  %s\n", step.Label)
			continue
		}
		visible.Fprintf(s.Out, "  %-20s -> %#x %s, %s\n", step.Label, step.Address, step.Type, units.Size(step.Bytes))
	}
	return nil
}

// printType prints who holds the objects of a type.
func (f HeapFlags) printType(s *Streams, a *heapgraph.Analysis) error {
	uses := a.OfType(f.Typ)
	if len(uses) == 0 {
		return &ExitError{Code: ExitInconclusive, Err: fmt.Errorf("no reachable object is known to be of type %s", f.Typ),
			Hint: "highwater heap --json lists the types"}
	}
	for _, u := range uses[:min(len(uses), 25)] {
		visible.Fprintf(s.Out, "  %10s  %8s objects  %s  for example %#x\n", units.Size(u.Bytes), count(u.Objects), short(u.Path, 80), u.Example)
	}
	return nil
}
