package explain

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Cause is something well known to need memory: what to recognise it by, what it
// does in plain words, the usual fix, and where that is documented.
type Cause struct {
	Name string `json:"name"`
	// Classes are the verdicts that it explains; none: any that blames a line.
	Classes []Class `json:"classes,omitempty"`
	// Functions holds where one of these is on the stack, from the allocation outwards to the line that is blamed. A
	// trailing * matches any rest. None: the class suffices.
	Functions []string `json:"functions,omitempty"`
	// With holds where one of these is on another stack of the blamed function, too.
	With []string `json:"with,omitempty"`
	// Modules holds where, with no line that is blamed, one of these is linked in. A trailing * matches any rest.
	Modules []string `json:"modules,omitempty"`
	// Uses holds where a file that is for this has a large part of page cache or shared memory (files_known.go).
	Uses []string `json:"uses,omitempty"`
	// Again means that the work is done again each time, and could be done once.
	Again bool `json:"again,omitempty"`
	// Value means that it is about one value that grows: it holds where the bytes of the blamed line grew and the number
	// of its values did not.
	Value bool `json:"value,omitempty"`
	// Tables means that it is about a map with many entries: it holds where a value of the blamed line is larger than what a
	// map takes that never grew.
	Tables bool `json:"tables,omitempty"`
	// Parts means that it is about what a part of a string or slice keeps alive: it holds where a capture of the heap found
	// most of it out of reach, and may hold without a capture.
	Parts bool `json:"parts,omitempty"`
	// Kept means that what is allocated there is kept by its nature. Growth that has come to rest is a fault there, too,
	// and no data that was loaded.
	Kept bool   `json:"kept,omitempty"`
	Why  string `json:"why"`
	Fix  string `json:"fix"`
	URL  string `json:"url"`
}

// causesSchema names the form of a file of causes.
const causesSchema = "highwater.causes/1"

//go:embed causes.json
var causesFile []byte

// builtin are the causes that come with highwater, once they are read.
var builtin struct {
	once sync.Once
	list []Cause
}

// causes are those that come with highwater, the most specific first.
func causes() []Cause {
	builtin.once.Do(func() { builtin.list = mustCauses(causesFile) })
	return builtin.list
}

func mustCauses(text []byte) []Cause {
	list, err := ReadCauses(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	return list
}

// ReadCauses reads a file of causes, as causes.json is one: a JSON object with
// the schema "highwater.causes/1" and a list "causes". A member that is not known,
// a cause without a reason, a fix and a reference, and a name that comes twice are
// errors.
func ReadCauses(r io.Reader) ([]Cause, error) {
	var file struct {
		Schema string  `json:"schema"`
		Causes []Cause `json:"causes"`
	}
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("read causes: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read causes: something follows the object")
	}
	if file.Schema != causesSchema {
		return nil, fmt.Errorf("read causes: the schema is %q, not %q", file.Schema, causesSchema)
	}
	seen := map[string]bool{}
	for i, k := range file.Causes {
		if err := k.check(); err != nil {
			return nil, fmt.Errorf("read causes: number %d, %q: %w", i+1, k.Name, err)
		}
		if seen[k.Name] {
			return nil, fmt.Errorf("read causes: %q comes twice", k.Name)
		}
		seen[k.Name] = true
	}
	return file.Causes, nil
}

func (k Cause) check() error {
	switch {
	case k.Name == "" || k.Why == "" || k.Fix == "":
		return errors.New("name, why and fix must not be empty")
	case !strings.HasPrefix(k.URL, "https://"):
		return errors.New("url must begin with https://")
	case len(k.Functions) == 0 && len(k.Classes) == 0 && len(k.Uses) == 0:
		return errors.New("neither functions, classes nor uses tell when it applies")
	}
	for _, class := range k.Classes {
		if _, ok := RuleOf(class); !ok {
			return fmt.Errorf("there is no class %q", class)
		}
	}
	for _, name := range slices.Concat(k.Functions, k.With) {
		if at := strings.IndexByte(strings.ReplaceAll(name, "(*", "("), '*'); name == "" || at >= 0 && !strings.HasSuffix(name, "*") {
			return fmt.Errorf("function %q: a * stands at the end only", name)
		}
	}
	return nil
}

// cause is what is well known of a verdict on the blamed line.
func (c *Case) cause(class Class) *Cause {
	if c.site == nil {
		return c.causeOf(class, nil, "", false)
	}
	if class == Leak && c.retainerOf(c.site).isDeferred() {
		return causeNamed("defer-in-loop")
	}
	k := c.causeOf(class, c.site.Stack, c.site.Function, c.site.Own)
	if class == Leak && (k == nil || k.ofLanguage()) && c.outOfReach() >= heldByRoot.v() {
		return causeNamed("substring-retained")
	}
	if class == Leak && k.ofLanguage() && c.retainerOf(c.site).ofLibrary(c.module()) {
		return nil // it is the library that appends to its slice, or puts into its map
	}
	return k
}

func causeNamed(name string) *Cause {
	list := causes()
	return &list[slices.IndexFunc(list, func(k Cause) bool { return k.Name == name })]
}

// outOfReach is the part of the live heap of a capture near the moment that lies in strings of which less than a half is in
// reach: parts that were cut from them keep them whole. NaN: the heap was not captured then, or slices make it a half, which may
// be parts of arrays, or arrays that have room left.
func (c *Case) outOfReach() float64 {
	h := c.Heap
	if h == nil || h.LiveBytes == 0 || math.Abs(c.seconds(h.At)-c.outcome.MomentElapsed) > max(nearCapture, c.outcome.MomentElapsed/4) {
		return math.NaN()
	}
	part := func(kind string) float64 {
		kept, _ := cutOf(h, kind)
		return float64(kept) / float64(h.LiveBytes)
	}
	strings := part("string")
	if strings < heldByRoot.v() && strings+part("slice") >= heldByRoot.v() {
		return math.NaN()
	}
	return strings
}

// cutOf is what a capture found in strings or slices of which less than a half is in reach, and what of it is.
func cutOf(h *sample.HeapCapture, kind string) (kept, reached sample.Bytes) {
	for _, l := range h.Collections {
		if l.Kind == kind && l.Reached*2 < l.Bytes {
			kept, reached = kept+l.Bytes, reached+l.Reached
		}
	}
	return kept, reached
}

// ofLanguage reports whether all that a cause is known by are functions of the runtime.
func (k *Cause) ofLanguage() bool {
	return k != nil && !slices.ContainsFunc(k.Functions, func(name string) bool {
		return !strings.HasPrefix(name, "runtime.") && !strings.HasPrefix(name, "internal/runtime/")
	})
}

// causeOf is the first cause that fits: the user's own come before those of
// highwater. It looks no further out than the blamed function of the program's own,
// as what called that is not why; where no own function is on the stack, all of it
// is the library's doing.
func (c *Case) causeOf(class Class, stack []sample.Frame, blamed string, own bool) *Cause {
	names := within(stack, blamed, own)
	for _, list := range [][]Cause{c.more, causes()} {
		for i := range list {
			if list[i].fits(class, names) && (len(list[i].With) == 0 || c.beside(blamed, list[i].With)) && (!list[i].Value || c.site.valuesGrow()) &&
				(!list[i].Tables || c.site.isOfTables()) &&
				(!list[i].Parts || !(c.outOfReach() < heldByRoot.v())) {
				return &list[i]
			}
		}
	}
	return nil
}

// valuesGrow reports whether a line holds a value that is most of its bytes, or its bytes grew and the number of its
// values by less than half as much. So grows a slice that is appended to: many short ones are more and more values.
func (s *Site) valuesGrow() bool {
	if s == nil || s.Bytes == 0 || s.Objects == 0 {
		return true
	}
	objects := float64(s.GrownObjects) / float64(s.Objects)
	return s.Largest*2 >= s.Bytes || s.Growth > 0 && objects < float64(s.Growth)/float64(s.Bytes)*heldByRoot.v()
}

// isOfTables reports whether what a line allocates can be the tables of large maps. A map of up to eight entries has one
// group of slots, which is smaller (internal/runtime/maps/group.go).
func (s *Site) isOfTables() bool {
	const group = 1 << 10
	return s == nil || s.Objects == 0 || uint64(s.Bytes)/s.Objects >= group
}

// within are the functions of a stack from the innermost to the blamed one, if
// that is the program's own; else all. A module that the standard library called, as net/http does a
// handler, is not what that is well known for.
func within(stack []sample.Frame, blamed string, own bool) (names []string) {
	called := false
	for _, f := range stack {
		if own && f.Func == blamed || called && heapdiff.OwnerOf(f.Func, "") == heapdiff.Standard {
			break
		}
		names = append(names, f.Func)
		called = called || !own && f.Func == blamed && heapdiff.OwnerOf(blamed, "") == heapdiff.Dependency
	}
	return names
}

func (k Cause) fits(class Class, names []string) bool {
	if len(k.Classes) > 0 && !slices.Contains(k.Classes, class) || len(k.Uses) > 0 {
		return false
	}
	return len(k.Functions) == 0 || slices.ContainsFunc(names, func(name string) bool { return matches(k.Functions, name) })
}

// beside reports whether one of the functions is on another stack of the blamed one.
func (c *Case) beside(blamed string, functions []string) bool {
	for _, a := range c.Allocators {
		if a.Function == blamed && slices.ContainsFunc(a.Stack, func(f sample.Frame) bool { return matches(functions, f.Func) }) {
			return true
		}
	}
	return false
}

func matches(patterns []string, name string) bool {
	for _, want := range patterns {
		if prefix, ok := strings.CutSuffix(want, "*"); ok && strings.HasPrefix(name, prefix) || name == want {
			return true
		}
	}
	return false
}

// causeOfLibrary is what is well known of a library of C that the program links, where no line is known of
// native memory: a hint.
func (c *Case) causeOfLibrary() *Cause {
	for _, list := range [][]Cause{c.more, causes()} {
		for i := range list {
			if k := &list[i]; len(k.Modules) > 0 && (len(k.Classes) == 0 || slices.Contains(k.Classes, Native)) && c.links(k.Modules, c.Subject) {
				return k
			}
		}
	}
	return nil
}
