package explain

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// HeldBy is the place that kept memory alive, from a capture of the heap: a variable
// and fields from there on, or goroutines. It may be far from the line that
// allocated: that a line allocates much that somebody else keeps is not its fault.
type HeldBy struct {
	Path     string       `json:"path"`            // "main.sessions", "goroutine main.wait"
	Kind     string       `json:"kind"`            // "map", "slice", "string", "channel", "goroutine" or ""
	Type     string       `json:"type"`            // of what lies there, "" if that is not known
	Entries  uint64       `json:"entries"`         // of a map or channel
	Retained sample.Bytes `json:"retained_bytes"`  // that would be garbage without it
	Live     sample.Bytes `json:"live_bytes"`      // all that was live then
	Room     uint64       `json:"room,omitempty"`  // of a channel: the items that it can hold
	Taken    uint64       `json:"taken,omitempty"` // of slices, rings and lists: items taken from their front (sample.HeapOwner)
	Lines    int          `json:"lines"`           // that allocated what it retains, as far as samples tell; 0: none
	Chain    uint64       `json:"chain"`           // objects of it that lie one behind the other, 0: not many
	At       float64      `json:"moment_seconds"`  // of the capture, since the start
	// Name is the place as the program's source calls it, with what is there: "(*store).sessions
	// map[string]*session, 7,465 entries". Root is what kind of root keeps it: "global",
	// "goroutine", "timer", "special". "": not known.
	Name string `json:"name,omitempty"`
	Root string `json:"root,omitempty"`
	// Title is the same within a sentence: "(*store).sessions (map[string]*session, 7,465 entries)".
	Title string `json:"title,omitempty"`

	path       int    // of the capture
	linked     bool   // a linked list
	goroutines uint64 // whose frames it is
}

// retainerOf is who holds what a line allocated: of the holders the one with most of it.
// Without a line, or where the capture does not know the lines, the holder of most of the
// live heap. nil: no heap was captured, none holds much, or the line's memory is under none.
func (c *Case) retainerOf(s *Site) *HeldBy {
	h := c.Heap
	if h == nil {
		return nil
	}
	best := mostOfLine(h, s)
	if best < 0 && s != nil && h.Lines != nil {
		return nil // what was sampled of the line is under no holder
	}
	if best < 0 {
		best = mostOfAll(h)
	}
	if best < 0 {
		return nil
	}
	if c.grows(best) || s != nil && float64(h.Paths[best].Retained) < blamedPart.v()*float64(s.Bytes) {
		return nil // or of another time, when hardly anything was there
	}
	return c.holderAt(best)
}

// mostOfLine is the holder with most of what a line allocated, -1: none is known.
func mostOfLine(h *sample.HeapCapture, s *Site) int {
	best, most := -1, sample.Bytes(0)
	for i := range h.Paths {
		if s == nil {
			break
		}
		if n := allocatedBy(&h.Paths[i], s); n > most {
			best, most = i, n
		}
	}
	return best
}

// mostOfAll is the holder of most of the live heap, -1: none has as much.
func mostOfAll(h *sample.HeapCapture) int {
	best := -1
	for i := range h.Paths {
		if p := &h.Paths[i]; p.Holder && (best < 0 || p.Retained > h.Paths[best].Retained) {
			best = i
		}
	}
	if best < 0 || float64(h.Paths[best].Retained) < heldByRoot.v()*float64(h.LiveBytes) {
		return -1
	}
	return best
}

// grows reports whether a path begins in the frame of a function that fills a larger array from a smaller one.
func (c *Case) grows(path int) bool {
	for n := 0; path >= 0 && n < len(c.Heap.Paths); n++ {
		if function, ok := strings.CutPrefix(c.Heap.Paths[path].Label, " in "); ok && slices.Contains(growers, function) {
			return true
		}
		path = c.Heap.Paths[path].Parent
	}
	return false
}

// allocatedBy is how much of what a holder has was allocated at a line.
func allocatedBy(p *sample.HeapPath, s *Site) (n sample.Bytes) {
	for _, at := range p.Sites {
		if p.Holder && s.isAt(at.At) {
			n += at.Bytes
		}
	}
	return n
}

// isAt reports whether a line of a capture is this one: a capture names the standard library's own line, where an
// answer names the one that called it.
func (s *Site) isAt(f sample.Frame) bool {
	return f.Func == s.Function && f.Line == s.Line || f.Func != "" && (f.Func == s.innermost.Func && f.Line == s.innermost.Line ||
		f.Func == s.helper.Func && f.Line == s.helper.Line)
}

// holderAt describes a holder: by the map or channel that it is a part of, if it is
// of one.
func (c *Case) holderAt(i int) *HeldBy {
	p, path := &c.Heap.Paths[i], c.Heap.Path(i)
	h := &HeldBy{path: i, Path: path, Retained: p.Retained, Live: c.Heap.LiveBytes, Lines: len(p.Sites), At: c.seconds(c.Heap.At)}
	if p.Type != "?" {
		h.Type = p.Type
	}
	if r := c.Heap.RootOf(i); r != nil {
		h.Root = string(r.Kind)
	}
	if p.Owner != nil {
		if l := c.containerOf(p); l != nil {
			o := sample.HeapOwner{Name: l.Name, Type: l.Type, Kind: l.Kind, Entries: l.Entries}
			h.Path, h.Kind, h.Type, h.Entries, h.Retained = l.Path, l.Kind, l.Type, l.Entries, l.Bytes
			h.Name, h.Title = usersMain(o.String()), titleOf(&o)
			return h
		}
		h.Name, h.Title = usersMain(p.Owner.String()), titleOf(p.Owner)
		if (isTaken(p.Owner) || c.wasTaken(p.Owner)) && c.tenureOf(i) != pools { // a pool's ring holds no work that waits
			h.Taken, h.linked = p.Owner.Taken, p.Owner.Kind == "list"
		}
	}
	h.Chain = longestChain(c.Heap, path)
	if strings.HasPrefix(path, "goroutine ") {
		if h.Kind = "goroutine"; p.Owner != nil {
			h.goroutines = p.Owner.Count
			h.Entries, h.Room = p.Owner.Entries, roomOf(p.Owner.Kind, p.Owner.Room)
		}
		return h
	}
	if l := collectionAround(c.Heap, path); l != nil {
		h.Path, h.Kind, h.Type, h.Entries = l.Path, l.Kind, l.Type, l.Entries
		h.Room = roomOf(l.Kind, l.Room)
	}
	if o := p.Owner; o != nil && h.Kind == "" {
		h.Kind, h.Entries, h.Room = o.Kind, o.Entries, roomOf(o.Kind, o.Room)
	}
	return h
}

// longestChain is the length of the longest chain of objects below a path, 0: none is known.
func longestChain(h *sample.HeapCapture, path string) (length uint64) {
	for _, l := range h.Chains {
		if strings.HasPrefix(l.Path, path) {
			length = max(length, l.Length)
		}
	}
	return length
}

// collectionAround is the innermost collection that a path leads through, or to. nil: none is known.
func collectionAround(h *sample.HeapCapture, path string) (inner *sample.HeapCollection) {
	for i := range h.Collections {
		l := &h.Collections[i]
		rest, ok := strings.CutPrefix(path, l.Path)
		if ok && (rest == "" || strings.ContainsAny(rest[:1], ".[")) && l.Path != "" && (inner == nil || len(l.Path) > len(inner.Path)) {
			inner = l
		}
	}
	return inner
}

// manyPlaces is from how many places on a map that has as many entries, to a hundredth, has them by more than chance.
const manyPlaces = 100

// containerOf is the map or channel whose entries many places of one kind are, as values behind each child of a context:
// it has as many entries as there are places, and retains them all. nil: there is none.
func (c *Case) containerOf(p *sample.HeapPath) *sample.HeapCollection {
	n := float64(p.Owner.Count)
	if n < manyPlaces || p.Owner.Kind == "goroutine" {
		return nil
	}
	for i := range c.Heap.Collections {
		l := &c.Heap.Collections[i]
		isOne := l.Count == 1 && (l.Kind == "map" || l.Kind == "channel") && l.Name != ""
		if isOne && l.Bytes >= p.Retained && math.Abs(float64(l.Entries)-n) <= n/manyPlaces {
			return l
		}
	}
	return nil
}

// roomOf is a channel's room: what a slice or map has room for is no bound.
func roomOf(kind string, room uint64) uint64 {
	if kind != "channel" {
		return 0
	}
	return room
}

// titleOf is an owner within a sentence, without its root.
func titleOf(o *sample.HeapOwner) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(o.What(), o.Name), " ")
	if rest = strings.TrimPrefix(rest, ", "); rest == "" {
		return usersMain(o.Name)
	}
	return usersMain(o.Name) + " (" + usersMain(rest) + ")"
}

// usersMain names the main function where its frame could not be told from that of its caller, the
// function with a go statement, and a sync.Map by what its source calls it.
func usersMain(text string) string {
	text = nodesOfMap.ReplaceAllString(text, "sync.Map")
	return wrapper.ReplaceAllString(strings.ReplaceAll(text, "runtime.main", "main.main"), "")
}

// wrapper is the function that the compiler writes around the call of a go statement.
var wrapper = regexp.MustCompile(`\.gowrap\d+`)

// nodesOfMap is the type of what a sync.Map begins with since Go 1.24 (internal/sync/hashtriemap.go).
var nodesOfMap = regexp.MustCompile(`\*?sync\.(?:indirect|node)\[any,any\]`)

// isDeferred reports whether calls retain the memory that are to run when their function returns.
func (h *HeldBy) isDeferred() bool {
	return h != nil && strings.Contains(h.Path, "its descriptor._defer")
}

// String is the holder as people say it: "main.sessions (map, 57301 entries)".
func (h *HeldBy) String() string {
	switch {
	case h.isDeferred() && h.Title != "":
		name, _, _ := strings.Cut(strings.TrimPrefix(h.Path, "goroutine "), " in ")
		text := "the deferred calls of a goroutine running " + usersMain(name)
		if h.Entries > 0 { // 0: not counted
			text += " (" + count(int(h.Entries), "value") + ")"
		}
		return text
	case h.Title != "":
		return h.Title
	case h.Name != "":
		return h.Name
	case h.Kind == "goroutine":
		name, where, _ := strings.Cut(strings.TrimPrefix(h.Path, "goroutine "), " in ")
		if strings.HasPrefix(where, "its descriptor._defer") {
			return "the deferred calls of a goroutine running " + name
		}
		return "the stack of " + name
	case h.Kind == "map" || h.Kind == "channel":
		return fmt.Sprintf("%s (%s, %s entries)", h.Path, h.Kind, sample.Thousands(h.Entries))
	case h.Type != "":
		return fmt.Sprintf("%s (%s)", h.Path, h.Type)
	}
	return h.Path
}

// ofLibrary reports whether the place is a library's own variable, as a cache of the standard library is: the program puts
// things there, and cannot take them away.
func (h *HeldBy) ofLibrary(module string) bool {
	if h == nil || h.Root != "global" || strings.HasPrefix(h.Path, "a variable ") {
		return false
	}
	owner := heapdiff.OwnerOf(h.Path, module)
	return (owner == heapdiff.Standard || owner == heapdiff.Dependency) && strings.Contains(h.Path, h.place())
}

// place is the holder as the place of a change: its name, without what is there.
func (h *HeldBy) place() string {
	if h.Title == "" {
		return h.Path
	}
	name, _, _ := strings.Cut(h.Title, " (")
	if strings.HasPrefix(h.Title, "(") { // a method's receiver
		method, rest, _ := strings.Cut(h.Title, ").")
		field, _, _ := strings.Cut(rest, " (")
		name = method + ")." + field
	}
	return name
}

// plural are the beginnings of holders that are several.
var plural = []string{"the stacks ", "the deferred calls ", "timers ", "finalizers "}

// holds says how much it holds of what was live at the capture.
func (h *HeldBy) holds() string {
	verb := "retains"
	text := h.String()
	if h.several() || strings.Contains(text, " and others") || slices.ContainsFunc(plural, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
		verb = "retain"
	}
	return fmt.Sprintf("%s %s %s, %s of what was live %s after start", h, verb, size(h.Retained), share(float64(h.Retained)/float64(max(h.Live, 1))),
		seconds(h.At))
}

// several reports whether the holder has no name, because more than one variable retains the memory.
func (h *HeldBy) several() bool { return strings.HasPrefix(h.String(), "several variables") }

// holderReturned is 1 where the frame of a call retained the memory when the heap was captured, and no goroutine was
// inside that function later: what it retained may be garbage since. NaN: the holder is another, main was not seen later,
// as its goroutine ran, or had returned.
func (c *Case) holderReturned() float64 {
	h := c.retainerOf(c.site)
	if h == nil || h.Root != string(sample.RootGoroutine) {
		return math.NaN()
	}
	function := c.frameOf(h.path)
	inside := c.insideLast(h.At)
	if function == "" || inside["main.main"] == 0 {
		return math.NaN()
	}
	return yes(inside[function] == 0)
}

// frameOf is the function in whose frame a path begins, "" where it begins in no frame.
func (c *Case) frameOf(path int) (function string) {
	for n := 0; path >= 0 && n < len(c.Heap.Paths); path, n = c.Heap.Paths[path].Parent, n+1 {
		if in, ok := strings.CutPrefix(c.Heap.Paths[path].Label, " in "); ok {
			function = in
		}
	}
	return function
}

// insideLast is how many goroutines were inside each function at the last look after a time at which main was seen: at the
// moment, or before it. nil: there is none.
func (c *Case) insideLast(after float64) map[string]int {
	if inside := insideOf(c.goroutines()); inside["main.main"] > 0 || c.site == nil {
		return inside
	}
	for i := len(c.site.Course) - 1; i >= 0 && c.site.Course[i].At > after; i-- {
		if inside := c.site.Course[i].Inside; inside["main.main"] > 0 {
			return inside
		}
	}
	return nil
}

// held is the end of a sentence about the memory that a line allocated.
func (c *Case) held(s *Site) string {
	h := c.retainerOf(s)
	if h == nil {
		return "is still reachable"
	}
	if c.holderReturned() == 1 {
		return fmt.Sprintf("was retained by %s %s after start", strings.TrimSuffix(h.String(), "."), seconds(h.At))
	}
	text := "is retained by " + strings.TrimSuffix(h.String(), ".")
	if c.outcome.MomentElapsed-h.At > max(nearCapture, c.outcome.MomentElapsed/10) { // the entries are of that time
		text += ", as of " + seconds(h.At) + " after start"
	}
	return text
}

// retention adds who holds the memory to a verdict about the live heap.
func (c *Case) retention(f *Finding, v *Verdict) (facts []Fact) {
	if f.Class != Leak && f.Class != Burst && f.Class != Baseline {
		return nil
	}
	h := c.retainerOf(c.site)
	if h == nil {
		return nil
	}
	if v.Culprit != nil {
		blamed := *v.Culprit
		blamed.HeldBy = h
		v.Culprit = &blamed
	}
	text := h.holds()
	if h.Chain > 0 {
		text += fmt.Sprintf(". %s of the objects form one chain, which a single GC worker must walk", sample.Thousands(h.Chain))
	}
	why := Why{Text: text, Evidence: []string{"holder"}}
	if h.Lines > 2 && f.Class == Leak {
		text += fmt.Sprintf(". The memory was allocated at %s, so look at what retains the memory and not at those lines", count(h.Lines, "line"))
		why.Text = text
		v.Why = append([]Why{why}, v.Why...)
	} else {
		v.Why = append(v.Why, why)
	}
	return []Fact{{ID: "holder", Text: "heap capture: " + text, Values: map[string]int64{
		"retained_bytes": int64(h.Retained), "live_bytes": int64(h.Live), "entries": int64(h.Entries), "lines": int64(h.Lines)}}}
}

// heldByGoroutines is what the heap capture says that goroutines retain which run the
// same functions as those that wait; false where there is none.
func (c *Case) heldByGoroutines(p *pile) (n sample.Bytes, ok bool) {
	if c.Heap == nil || c.proc == nil {
		return 0, false
	}
	begun := map[string]bool{}
	module := c.module()
	for _, g := range c.standing(p) {
		if len(g.Where) == 0 || waitsAt(g, module).Func != p.at.Func {
			continue
		}
		if last := g.Where[len(g.Where)-1]; len(last.Frames) > 0 {
			begun["goroutine "+last.Frames[len(last.Frames)-1].Func] = true
		}
	}
	for i := range c.Heap.Paths {
		at := &c.Heap.Paths[i]
		if name, _, _ := strings.Cut(at.Label, " and others"); at.Parent < 0 && begun[name] {
			n += at.Retained
		}
	}
	return n, n > 0
}
