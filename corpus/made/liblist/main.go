// Liblist keeps the undo steps of an editor in a container/list and drops none,
// beside the document. Repaired, it keeps 400.
package main

import (
	"container/list"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type editor struct {
	document []byte // steady
	undo     *list.List
}

func main() {
	f := frame.Parse()
	e := &editor{document: frame.Touch(make([]byte, 24<<20)), undo: list.New()}
	f.Each(func(int) {
		e.edit(f.Unit)
		if f.Repaired && e.undo.Len() > 400 {
			e.undo.Remove(e.undo.Front())
		}
	})
	f.Stay()
	if len(e.document) == 0 {
		panic("no document")
	}
}

func (e *editor) edit(size int) {
	step := frame.Touch(make([]byte, size)) // truth: allocates
	e.undo.PushBack(step)                   // truth: keeps
}
