package sample

import (
	"fmt"
	"time"

	"github.com/highwater-go/highwater/internal/words/units"
)

// HeapRootKind is why memory is reachable at all.
type HeapRootKind string

// The kinds of roots. What a kind further up leads to is never counted for one further
// down: what a variable keeps is the variable's, whichever stack has it in hand too.
const (
	RootGlobal    HeapRootKind = "global"    // a package-level variable
	RootGoroutine HeapRootKind = "goroutine" // a frame of a goroutine, or its descriptor
	RootTimer     HeapRootKind = "timer"     // a timer that has not fired
	RootSpecial   HeapRootKind = "special"   // a finalizer or a cleanup
)

// HeapRoot is what a path of a heap begins with: how long it will keep what it leads to.
// A global keeps it for ever, a frame until its function returns.
type HeapRoot struct {
	Kind HeapRootKind
	// Of goroutines that run the same function:
	Func    string             `json:",omitempty"` // the function that they run; of another root its name
	Creator string             `json:",omitempty"` // the function with the go statement of most of them
	Count   int                `json:",omitempty"` // how many there are
	Oldest  Opt[time.Duration] `json:",omitzero"`  // for how long the one waits that has waited longest, at least
	First   uint64             `json:",omitempty"` // the lowest goid of them: 1 is the main goroutine
	Last    uint64             `json:",omitempty"` // and the highest
	// NewID is the highest goid of the whole program at that moment.
	NewID uint64 `json:",omitempty"`
	// Sharers are all goroutines that lead there, by function, where those of several functions do: what they
	// share lives as long as one of them keeps it.
	Sharers []HeapSharer `json:",omitempty"`
}

// HeapSharer is goroutines that run the same function, among others that lead to the same memory, and the function in
// whose frame the first of them does; "": not known.
type HeapSharer struct {
	HeapRoot
	Frame string `json:",omitempty"`
}

// RootOf is what the path i begins with, nil where that is not known.
func (c *HeapCapture) RootOf(i int) *HeapRoot {
	for n := 0; i >= 0 && i < len(c.Paths) && n <= len(c.Paths); n++ {
		if c.Paths[i].Parent < 0 {
			return c.Paths[i].Root
		}
		i = c.Paths[i].Parent
	}
	return nil
}

// HeapOwner is what keeps the memory of a holder, as whoever wrote the program calls it:
// a field of a type, a variable, the stack of a function.
type HeapOwner struct {
	Name    string // "(*store).sessions", "main.cache", "the stack of main.wait"
	Type    string `json:",omitempty"` // of what is there: "map[string]*session", "*lru.Cache[string,int]"; "": not known
	Kind    string `json:",omitempty"` // "map", "slice", "channel", "list", "goroutine", or ""
	Count   uint64 `json:",omitempty"` // of such places, where there are several
	Entries uint64 `json:",omitempty"` // in all of them; 0: not known, or not a collection
	Room    uint64 `json:",omitempty"` // of a channel
	// Taken is of a slice, and of a queue whose array is a ring: elements of the array before its first, which were taken from its
	// front. Of a linked list: those that have left its front since the capture before, at least.
	Taken uint64 `json:",omitempty"`
	Via   string `json:",omitempty"` // the function whose closure leads there
	Root  string `json:",omitempty"` // what the path begins with, where Name does not say it: "net/http.defaultServeMux"
}

// What is the owner without its root: "(*store).sessions map[string]*session, 7,465 entries".
func (o *HeapOwner) What() string {
	text := o.Name
	if o.Type != "" {
		text += " " + o.Type
	}
	switch {
	case o.Kind == "goroutine" && o.Count > 1:
		return text + ", " + units.Thousands(o.Count) + " goroutines"
	case o.Kind == "channel" && o.Room > 0:
		text += fmt.Sprintf(", %s of %s queued", units.Thousands(o.Entries), units.Thousands(o.Room))
	case o.Entries == 1:
		text += ", 1 entry"
	case o.Entries > 1:
		text += ", " + units.Thousands(o.Entries) + " entries"
	}
	if o.Count > 1 {
		text += ", " + units.Thousands(o.Count) + " places"
	}
	return text
}

// String is the owner with its root in brackets.
func (o *HeapOwner) String() string {
	switch {
	case o.Via != "" && o.Root != "":
		return o.What() + " [" + o.Via + ", registered in " + o.Root + "]"
	case o.Via != "":
		return o.What() + " [" + o.Via + "]"
	case o.Root != "":
		return o.What() + " [" + o.Root + "]"
	}
	return o.What()
}

// Thousands is a number with separators: "7,465".
func Thousands(n uint64) string { return units.Thousands(n) }
