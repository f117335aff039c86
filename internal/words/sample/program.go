package sample

import "strings"

// HeapProfileState says whether a program's own heap profile has anything in it.
type HeapProfileState string

// The states. Enabled: its linker had switched it off, and the launcher
// switched it on before the program's first instruction.
const (
	HeapProfileOn      HeapProfileState = "on"
	HeapProfileEnabled HeapProfileState = "enabled"
	HeapProfileOff     HeapProfileState = "off"
	HeapProfileUnknown HeapProfileState = "unknown" // no Go program, or one whose runtime cannot be read
)

// Program is what a process runs. A process that execs gets a second Program
// under the same key.
type Program struct {
	Key    ProcessKey
	Parent int      // pid of the process that started it
	Name   string   // base name of the executable
	Exe    string   // path of the executable
	Args   []string // its command line, values left out ("…") unless --keep-args, and those that look secret "***"
	Go     *GoProgram
	// HeapProfile and, where it is off or unknown, WhyNot in a user's words.
	HeapProfile HeapProfileState
	WhyNot      string
}

// GoProgram is what a Go executable says of itself (debug/buildinfo and the
// symbol table).
type GoProgram struct {
	Version       string   // "go1.26.8"
	Experiments   []string // "nogreenteagc", ...
	Module        string   // path of the main module, "" if not built in one
	ModuleVersion string
	MainPackage   string
	Revision      string // vcs.revision
	BuildID       string // Go's build ID
	Arch          string // GOARCH
	PIE, CGO      bool
	Stripped      bool     // no symbol table
	Deps          []Module // modules linked in
	// FoundBy says how the runtime's variables were found in it: "symbols", or
	// "signatures of go1.26.8, 0 of 2913 votes against"; "" if they were not.
	FoundBy string
}

// FoundByOther says whether the runtime's variables were found by the signatures of
// another toolchain than the program's, of the same minor version.
func (g *GoProgram) FoundByOther() bool {
	of, ok := strings.CutPrefix(g.FoundBy, "signatures of ")
	of, _, _ = strings.Cut(of, ",") // the votes
	of, _, _ = strings.Cut(of, " ") // the experiments
	return ok && of != g.Version
}

// Module is one module of a build list.
type Module struct {
	Path, Version string
}

// Place is a line of code.
type Place struct {
	Function string `json:"function"` // as the linker names it: "net/http.(*conn).serve"
	File     string `json:"file"`     // as the compiler recorded it
	Line     int    `json:"line"`
}

// Place is where the frame stands.
func (f Frame) Place() Place { return Place{f.Func, f.File, f.Line} }

// Frame is one call in source terms.
type Frame struct {
	Func      string // as the linker names it: "net/http.(*conn).serve"
	File      string // as the compiler recorded it
	Line      int
	StartLine int // of the function
}

// Location is one program counter of an executable. Frames holds the calls at
// it, innermost (inlined) first; it is empty where nothing is known of it.
type Location struct {
	Address uint64 // in the executable file's own address space
	Frames  []Frame
}

// Site is a Bucket in source terms: where, and objects of which size. Stack is
// innermost first; Hidden is how many of its first locations are the Go runtime's
// and left out of the program's own heap profile.
type Site struct {
	Stack  []Location
	Size   Bytes
	Hidden int
}
