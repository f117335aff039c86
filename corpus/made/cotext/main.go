// Cotext is a text that several write at once. What is deleted is marked, so that who has
// an older state can still say where theirs belongs, and keeps its words. Repaired, the
// words go at once, and the marks of the oldest paragraphs when there are 400.
package main

import (
	"strings"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type position struct {
	author  string
	counter int
}

type paragraph struct {
	at      position
	text    string
	deleted bool
}

type text struct {
	paragraphs []*paragraph
	index      map[position]int
	compact    bool
	gone       int
}

func newText(compact bool) *text { return &text{index: map[position]int{}, compact: compact} }

func (t *text) insert(at position, words string) {
	t.paragraphs = append(t.paragraphs, &paragraph{at: at, text: words}) // truth: keeps
	t.index[at] = len(t.paragraphs) - 1
}

func (t *text) remove(at position) {
	i, ok := t.index[at]
	if !ok || t.paragraphs[i].deleted {
		return
	}
	p := t.paragraphs[i]
	p.deleted = true
	t.gone++
	if !t.compact {
		return
	}
	p.text = ""
	if t.gone >= 400 {
		t.squeeze()
	}
}

func (t *text) squeeze() {
	var left []*paragraph
	t.index, t.gone = map[position]int{}, 0
	for _, p := range t.paragraphs {
		if !p.deleted {
			t.index[p.at] = len(left)
			left = append(left, p)
		}
	}
	t.paragraphs = left
}

type editor struct {
	open  map[string]*text
	fonts [][]byte // 20 MiB
}

// typed is what an author wrote, of size bytes.
func typed(size int) string {
	var b strings.Builder
	b.Grow(size) // truth: allocates
	for b.Len()+16 <= size {
		b.WriteString("lorem ipsum sit ")
	}
	return b.String()
}

func main() {
	f := frame.Parse()
	e := &editor{open: map[string]*text{"minutes": newText(f.Repaired)}}
	for range 20 << 4 {
		e.fonts = append(e.fonts, frame.Touch(make([]byte, 64<<10)))
	}
	authors := []string{"ada", "ben", "cyd"}
	f.Each(func(i int) {
		t := e.open["minutes"]
		t.insert(position{authors[i%3], i}, typed(f.Unit))
		t.remove(position{authors[(i+1)%3], i - 50}) // (i-50)%3 == (i+1)%3
	})
	f.Stay()
}
