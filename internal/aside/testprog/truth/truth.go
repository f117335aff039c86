// Package truth lets a program of known memory say what is true of it: which
// verdict is right, which line is to blame and how many bytes there are. A line
// is found by a marker in the program's own source, so it cannot go stale.
//
// It is no judge: whoever watches the program compares.
package truth

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Truth is what a program knows of itself, printed as one JSON object by its
// -truth flag. Sizes are bytes and hold for the flags given beside -truth.
type Truth struct {
	Program string `json:"program"`
	// Class is the right verdict where the program meets its limit, one of the
	// verdict's classes ("leak", "burst", ...).
	Class string `json:"class"`
	// ClassUnlimited is the right verdict where nothing limits it.
	ClassUnlimited string `json:"class_unlimited"`
	// The line to blame; all empty where no line is.
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	// LiveBytes is the greatest live Go heap by design, NativeBytes the greatest
	// touched memory outside Go; object headers and rounding to size classes
	// come on top.
	LiveBytes   int64 `json:"live_bytes"`
	NativeBytes int64 `json:"native_bytes"`
	// FloorBytes is the live heap that stays between bursts or that a leak
	// began with.
	FloorBytes int64 `json:"floor_bytes"`
	// ObjectBytes is the size of one object of the blamed line, 0 if they differ.
	ObjectBytes int64 `json:"object_bytes"`
	// ExitCode is its code when nothing kills it.
	ExitCode int `json:"exit_code"`
	// Places are other marked lines by their marker's name.
	Places map[string]Place `json:"places"`
	// Processes are the children's live heaps, in the order they are started.
	Processes []int64 `json:"processes"`
}

// Place is a marked line and the function that holds it.
type Place struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// Blame sets the line to blame: the one that ends in "// truth: NAME".
func (t *Truth) Blame(source, name string) {
	p := Find(source, name)
	t.Function, t.File, t.Line = p.Function, p.File, p.Line
}

// Mark adds the lines of these markers to Places.
func (t *Truth) Mark(source string, names ...string) {
	if t.Places == nil {
		t.Places = make(map[string]Place)
	}
	for _, name := range names {
		t.Places[name] = Find(source, name)
	}
}

// Print writes t to standard output and ends the program.
func (t Truth) Print() {
	if t.Places == nil {
		t.Places = map[string]Place{}
	}
	if t.Processes == nil {
		t.Processes = []int64{}
	}
	if err := json.NewEncoder(os.Stdout).Encode(t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Find is the line of source, the text of the caller's main.go, that ends in
// "// truth: NAME", with the function it stands in as the linker names it
// ("main.(*store).keep"). It panics where there is no such line or no function
// around it: the program is wrong then.
func Find(source, name string) Place {
	function := ""
	for i, line := range strings.Split(source, "\n") {
		if strings.HasPrefix(line, "func ") {
			function = linkName(line)
		}
		if strings.HasSuffix(line, "// truth: "+name) && function != "" {
			return Place{Function: function, File: mainFile(), Line: i + 1}
		}
	}
	panic("no line is marked with truth: " + name)
}

// linkName is a function's name in the linker's form, from its declaration:
// "func (s *store) keep(n int) {" is "main.(*store).keep".
func linkName(declaration string) string {
	rest := strings.TrimPrefix(declaration, "func ")
	receiver := ""
	if strings.HasPrefix(rest, "(") {
		end := strings.Index(rest, ")")
		fields := strings.Fields(rest[1:end])
		receiver = fields[len(fields)-1] + "."
		if strings.HasPrefix(receiver, "*") {
			receiver = "(" + strings.TrimSuffix(receiver, ".") + ")."
		}
		rest = strings.TrimSpace(rest[end+1:])
	}
	return "main." + receiver + rest[:strings.IndexAny(rest, "([")]
}

// mainFile is the caller's main.go as the compiler recorded it: the first file
// on the stack outside this one.
func mainFile() string {
	_, own, _, _ := runtime.Caller(0)
	for skip := 1; ; skip++ {
		_, file, _, ok := runtime.Caller(skip)
		if !ok || file != own {
			return file
		}
	}
}
