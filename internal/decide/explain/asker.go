package explain

import (
	"fmt"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// since says which lines made the heap grow: by a mark, those whose garbage it was;
// else what was allocated since the last published collection, and who asked for
// it. ok is false where it was little.
func (c *Case) since() (why Why, fact Fact, ok bool) {
	id, text, of := "garbage", "garbage, by the line that allocated it:", func(a *Allocator) sample.Bytes { return a.Garbage }
	top, all := c.most(of)
	if top == nil || all < 4*sample.MiB {
		id, text, of = "since", "allocated since the last GC:", func(a *Allocator) sample.Bytes { return a.Since }
		top, all = c.most(of)
	}
	if top == nil || all < 4*sample.MiB || all*10 < c.heap() {
		return why, fact, false
	}
	why = Why{Text: fmt.Sprintf("%s was allocated since the last GC in the profile, %s of that at %s", size(all), size(of(top)), place(top.File, top.Line)),
		Evidence: []string{id}}
	if id == "garbage" {
		why.Text = fmt.Sprintf("%s of the garbage was allocated at %s", size(of(top)), place(top.File, top.Line))
	}
	if k, n := c.askers(top.Stack); k != nil && !top.Own {
		why.Text += fmt.Sprintf(". %s %s inside this function, called at %s", count(n, "goroutine"), was(n), place(k.File, k.Line))
	}
	fact = Fact{ID: id, Values: map[string]int64{id + "_bytes": int64(all)}}
	var lines []string
	for i := range c.Allocators {
		if a := &c.Allocators[i]; of(a) > 0 && len(lines) < 4 {
			lines = append(lines, fmt.Sprintf("%s %s", place(a.File, a.Line), size(of(a))))
		}
	}
	fact.Text = text + " " + strings.Join(lines, "; ")
	return why, fact, true
}

// most is the line with the most of something, nil if none has any, and the sum of
// all.
func (c *Case) most(of func(*Allocator) sample.Bytes) (top *Allocator, all sample.Bytes) {
	for i := range c.Allocators {
		a := &c.Allocators[i]
		all += of(a)
		if of(a) > 0 && (top == nil || of(a) > of(top)) {
			top = a
		}
	}
	return top, all
}

// helperWhy says where a culprit's memory is allocated, which is a helper's line.
func (c *Case) helperWhy(k *Culprit) (why Why, ok bool) {
	s := c.site
	if s == nil || k == nil || s.helper.Func == "" || k.Function != s.Function || k.Line != s.Line {
		return why, false
	}
	return Why{Text: fmt.Sprintf("%s allocates the memory at %s, also for calls that freed theirs or did not grow", ShortFunc(s.helper.Func),
		place(s.helper.File, s.helper.Line)), Evidence: []string{"site"}}, true
}

// askersOf are those of a culprit that is no code of the program's own.
func (c *Case) askersOf(k *Culprit) (*Culprit, int) {
	switch {
	case k == nil || k.Hint || k.File == "":
		return nil, 0
	case c.site != nil && c.site.Function == k.Function && !c.site.Own:
		return c.askers(c.site.Stack)
	case heapdiff.OwnerOf(k.Function, c.module()) != heapdiff.Own:
		return c.askers([]sample.Frame{{Func: k.Function}})
	}
	return nil, 0
}

// askers finds who asked for what a library allocates in goroutines of its own,
// as net/http does to dial: the line of the program's own code that most
// goroutines called into the same package from. It is a hint; nil: none stood
// there.
func (c *Case) askers(stack []sample.Frame) (best *Culprit, most int) {
	if c.proc == nil {
		return nil, 0
	}
	module, pkg := c.module(), packageOf(libraryFrame(stack).Func)
	counts := map[sample.Frame]int{}
	for _, g := range c.proc.Goroutines {
		inside := false
		for _, f := range framesOf(sample.Site{Stack: g.Where}) {
			if heapdiff.OwnerOf(f.Func, module) != heapdiff.Own {
				inside = inside || packageOf(f.Func) == pkg
				continue
			}
			at := lineOf(f)
			if counts[at] += g.Count; inside && counts[at] > most {
				most, best = counts[at], &Culprit{Place: f.Place(), Role: "allocates", Hint: true}
			}
			break
		}
	}
	return best, most
}

// libraryFrame is the line to name where only a library's code is on the stack: the
// innermost one of the package whose goroutine it is, not of those that it uses in
// turn. net/http's dialing is named for a connection's buffers, not bufio.
func libraryFrame(stack []sample.Frame) sample.Frame {
	var best sample.Frame
	for i := len(stack) - 1; i >= 0; i-- {
		pkg := packageOf(stack[i].Func)
		if pkg == "" || pkg == "runtime" {
			continue
		}
		if best.Func == "" || pkg == packageOf(best.Func) {
			best = stack[i]
		}
	}
	return best
}

// packageOf is the import path in a linker's name, as far as it is needed to
// compare two of them.
func packageOf(function string) string {
	if i := strings.IndexAny(function, "(["); i >= 0 {
		function = function[:i] // a receiver, or type arguments, may have slashes of their own
	}
	slash := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + name
}

// module is the path of the subject's main module, "" if it is not known.
func (c *Case) module() string {
	if p := c.program(c.Subject); p != nil && p.Go != nil {
		return p.Go.Module
	}
	return ""
}
