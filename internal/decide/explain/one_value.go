package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
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

// wholeValues is how many values, at most, builders at the blamed line were still
// putting together, if that is all that the line holds: there are no more objects of
// the largest size than goroutines that may be at work, and all objects come to about
// three times the largest for each. 0: it is not. A goroutine that ran cannot be looked
// into; where none was seen at it, the largest object must be one that is still being
// filled, or nearly everything since the last collection must have been allocated there,
// and much of the line's be dead again, as parts are.
func (c *Case) wholeValues() int {
	s := c.site
	if c.madeAgain() {
		return int(s.AsLarge)
	}
	n := max(1, c.inFlight.calls+c.inFlight.running)
	if s == nil || c.builder() == "" || s.AsLarge == 0 || s.AsLarge > uint64(n) || s.Largest*16*sample.Bytes(n) < s.Bytes*5 {
		return 0
	}
	if c.goroutines() != nil && 2*(insideOf(c.goroutines())[c.builder()]+c.inFlight.running) < c.inFlight.calls {
		return 0 // most have their value already, and do something else
	}
	switch {
	case c.filling():
		return n
	case c.inFlight.left >= leftBehind.v():
		return 0
	case c.inFlight.calls > 0:
		return n
	}
	if c.inFlight.running > 0 && c.madeLast() {
		return n
	}
	return 0
}

// madeLast reports whether nearly everything since the last collection was allocated at the blamed line, and much of the line's is
// dead again.
func (c *Case) madeLast() bool {
	s := c.site
	top, all := c.most(func(a *Allocator) sample.Bytes { return a.Since })
	return top != nil && top.Function == s.Function && top.Line == s.Line && top.Since*10 >= all*9 && (s.Freed+top.Garbage)*10 >= (s.Allocated+s.Since)*3
}

// madeAgain reports whether one or two values at the blamed line are most of the live heap, each made at once, and the line has
// dropped as much before: a slice whose length somebody sends, a table that is built again. What grows by append or in a map
// drops its smaller arrays, too, and may be kept.
func (c *Case) madeAgain() bool {
	s := c.site
	if s == nil || s.AsLarge == 0 || s.AsLarge > 2 || float64(s.Largest)*float64(s.AsLarge) < heldByRoot.v()*float64(max(c.live.bytes, s.Bytes)) {
		return false
	}
	for _, f := range s.Stack {
		if slices.Contains(growers, f.Func) || strings.HasPrefix(f.Func, "runtime.mapassign") || strings.HasPrefix(f.Func, "internal/runtime/maps.") {
			return false
		}
	}
	return (s.Allocated + s.Since).Sub(s.Bytes) >= s.Largest/2
}

// filling reports whether a quarter of the line's largest object, or more, lay in new large objects that had no page
// yet. Who makes room for a value writes it at once. Without a mark the line must be known to have allocated that much
// since the last collection.
func (c *Case) filling() bool {
	if c.proc == nil || c.proc.Residency == nil || !c.proc.Residency.GoKnown {
		return false
	}
	fresh := c.proc.Residency.UntouchedNew
	return (c.untouched() > 0 || !c.live.exact && fresh > 0 && c.site.Since >= fresh) && fresh*4 >= c.site.Largest
}

// wholeFound blames the line that asked for all of a value at once.
func wholeFound(c *Case, n int) Finding {
	s := c.site
	if c.madeAgain() {
		return againFound(c)
	}
	f := Finding{Stance: Speaks, Detail: largeDetail, Culprit: culprit(s, "allocates"), Confidence: Medium, Bytes: s.Bytes}
	if top, _ := c.most(func(a *Allocator) sample.Bytes { return a.Garbage }); top != nil && top.Function == s.Function && top.Line == s.Line {
		f.Bytes += top.Garbage // what the values were made from
	}
	held, when := s.Bytes, ""
	if !c.live.exact {
		// What was allocated since may be dead again, and returned.
		held, when = max(held, min(held+s.Since, c.heap()+c.untouched())), ", with buffers that may be garbage since the last GC"
	}
	calls, its := "One call of %s was", "The value"
	if n > 1 {
		calls, its = fmt.Sprintf("Up to %d calls of %%s were", n), "Together these values"
	}
	f.Sentence = fmt.Sprintf(calls+" in flight%s, building a whole value in memory with %s. %s took %s%s, allocated at %s. The largest buffer was %s.",
		ShortFunc(c.inFlight.name), c.in(), ShortFunc(c.builder()), its, size(held), when, place(s.File, s.Line), size(s.Largest))
	f.Why = []Why{{Text: fmt.Sprintf("until %s returns, its whole result stays in memory, with the buffers that the result is copied from",
		ShortFunc(c.builder())), Evidence: []string{"site"}}}
	return f
}

// againFound blames the line that makes such values.
func againFound(c *Case) Finding {
	s := c.site
	f := Finding{Stance: Speaks, Detail: largeDetail, Culprit: culprit(s, "allocates"), Confidence: Medium, Bytes: s.Bytes}
	value, did := "One value of %s, allocated at once at %s,", "was"
	if s.AsLarge > 1 {
		value, did = strconv.FormatUint(s.AsLarge, 10)+" values of %s, each allocated at once at %s,", "were"
	}
	part := "most"
	if float64(s.Bytes) >= 0.99*float64(c.live.bytes) {
		part = "nearly all"
	}
	f.Sentence = fmt.Sprintf(value+" %s %s of the live heap%s, and earlier ones of this line were garbage.", size(s.Largest), place(s.File, s.Line),
		did, part, c.of())
	f.Why = []Why{{Text: "GC runs only after such a value was allocated, so the one before it may still take memory", Evidence: []string{"site"}}}
	return f
}

// largestObject is the size of the largest object of a line that is held, and how many are
// that large.
func largestObject(h heapdiff.Holder, p heapdiff.Profile, view heapdiff.View) (size sample.Bytes, n uint64) {
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
