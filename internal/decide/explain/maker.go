package explain

import (
	"fmt"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// maker is the line of the program's own code that made what a library's goroutines retain beside the memory in
// question, and that grew with it: a library allocates in goroutines of its own, so that no stack leads from its
// line to whoever asked for it. nil: the blamed line is the program's own, or nothing tells.
func (c *Case) maker() *Site {
	root := c.rootOfSite()
	if root == nil {
		return nil
	}
	var best *Site
	most := sample.Bytes(0)
	for i := range c.Sites {
		s := &c.Sites[i]
		if !s.Own || s.Function == "main.main" || !c.isMore(c.grownSince(s, c.rise.from)) {
			continue
		}
		if n := c.underRoot(root, s); n > most && n*2 > s.Bytes {
			best, most = s, n
		}
	}
	return best
}

// rootOfSite is the kind of goroutine that retains most of what a library's line allocated, nil where the line
// is the program's own, or something else retains it.
func (c *Case) rootOfSite() (root *sample.HeapRoot) {
	if c.site == nil || c.site.Own || c.Heap == nil || !c.heapAtMoment() {
		return nil
	}
	most := sample.Bytes(0)
	for i := range c.Heap.Paths {
		if n := allocatedBy(&c.Heap.Paths[i], c.site); n > most {
			most, root = n, c.Heap.RootOf(i)
		}
	}
	if root == nil || root.Kind != sample.RootGoroutine || heapdiff.OwnerOf(root.Func, c.module()) == heapdiff.Own {
		return nil
	}
	return root
}

// underRoot is how much of what a line allocated goroutines of a kind retain.
func (c *Case) underRoot(root *sample.HeapRoot, s *Site) (n sample.Bytes) {
	for i := range c.Heap.Paths {
		if at := c.Heap.RootOf(i); at != nil && at.Kind == root.Kind && at.Func == root.Func {
			n += allocatedBy(&c.Heap.Paths[i], s)
		}
	}
	return n
}

// blameMaker blames the line that made what a library's goroutines retain, where there is one.
func (c *Case) blameMaker(f *Finding) {
	s := c.maker()
	if s == nil {
		return
	}
	library, allocates := c.site, c.site.Place
	f.Culprit = &Culprit{Place: s.Place, Bytes: library.Bytes, Role: "retains", Below: &allocates}
	f.Sentence += fmt.Sprintf(" The same goroutines also retain what was allocated at %s.", place(s.File, s.Line))
}
