package explain

import (
	"fmt"
	"slices"

	"github.com/highwater-go/highwater/internal/heapdiff"
	"github.com/highwater-go/highwater/internal/sample"
)

// builders are well-known functions that put one value together, which grows until
// they return. While one runs it holds that value, and the parts or the copy that it
// is made from: io.ReadAll of Go 1.26 a row of parts, each half as large again as
// the one before, and at last the whole beside them.
var builders = []string{
	"io.ReadAll",
	"io/ioutil.ReadAll",
	"os.ReadFile",
	"bytes.(*Buffer).ReadFrom",
	"encoding/json.Marshal",
	"encoding/json.MarshalIndent",
}

// builder is the one on the stack of the blamed line, "" if there is none.
func (c *Case) builder() string {
	for _, f := range c.site.Stack {
		if slices.Contains(builders, f.Func) {
			return f.Func
		}
	}
	return ""
}

// oneValue: what the blamed line holds is one value that a builder was still at,
// with what it is made from: no second object is as large, and all of them come to
// about three times the largest at most. Its goroutine need not have been seen: one
// that ran cannot be looked into, and what nearly everything was allocated for since
// the last collection was being worked at.
func (c *Case) oneValue() bool {
	s := c.site
	switch {
	case c.builder() == "" || c.flight.call == noCall || s.AsLarge != 1 || s.Largest*16 < s.Bytes*5:
		return false
	case c.flight.calls > 0:
		return true
	}
	top, all := c.most(func(a *Allocator) sample.Bytes { return a.Since })
	return c.flight.running > 0 && top != nil && top.Function == s.Function && top.Line == s.Line && top.Since*10 >= all*9 && c.freedShare() >= 0.3
}

// oneValueFound blames the line that asked for all of it at once.
func oneValueFound(c *Case) Finding {
	s := c.site
	f := Finding{Stance: Speaks, Detail: "A burst, not a leak: one value that is too large for the limit.", Culprit: culprit(s, "allocates"), Confidence: Medium}
	f.Sentence = fmt.Sprintf("%s at %s%s was putting together one value as a whole, and held %s for it; its largest part was %s.",
		ShortFunc(c.builder()), place(s.File, s.Line), c.in(), size(s.Bytes), size(s.Largest))
	f.Because = []string{"of the line's objects no two were as large: it was one value, not many"}
	if c.flight.calls == 0 {
		f.Because = append(f.Because, "the goroutine at work was not looked into, as it ran")
	}
	f.Why = []Why{{Text: fmt.Sprintf("%s keeps all of its result in memory, and the parts that it is made from until it returns", ShortFunc(c.builder())), Evidence: []string{"site"}}}
	return f
}

// largest is the size of the largest object of a line that is held, and how many are
// that large.
func largest(h heapdiff.Holder, p heapdiff.Profile, view heapdiff.View) (size sample.Bytes, n uint64) {
	for _, i := range h.Sites {
		if i >= len(p.Counts) || view.InUse(p.Counts[i]) <= 0 || p.Sites[i].Size < size {
			continue
		}
		if p.Sites[i].Size > size {
			size, n = p.Sites[i].Size, 0
		}
		n += uint64(view.InUse(p.Counts[i]))
	}
	return size, n
}
