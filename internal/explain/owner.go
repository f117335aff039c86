package explain

import (
	"strings"

	"github.com/highwater-go/highwater/internal/sample"
)

// blamer finds the frame that is to blame for an allocation: the innermost of
// the program's own code; without one the innermost of a dependency, else the
// innermost outside the runtime.
func blamer(p *sample.Program) func([]sample.Frame) (frame sample.Frame, own bool) {
	module := ""
	if p != nil && p.Go != nil {
		module = p.Go.Module
	}
	return func(stack []sample.Frame) (sample.Frame, bool) {
		var library, standard *sample.Frame
		for i := range stack {
			switch pkg := packageOf(stack[i].Func); {
			case ownPackage(pkg, module):
				return stack[i], true
			case library == nil && strings.Contains(firstElement(pkg), "."):
				library = &stack[i]
			case standard == nil && !runtimePackage(pkg):
				standard = &stack[i]
			}
		}
		switch {
		case library != nil:
			return *library, false
		case standard != nil:
			return *standard, false
		case len(stack) > 0:
			return stack[len(stack)-1], false
		}
		return sample.Frame{Func: "(unknown)"}, false
	}
}

// ownPackage: the main package is called "main" in a linked program.
func ownPackage(pkg, module string) bool {
	return pkg == "main" || module != "" && (pkg == module || strings.HasPrefix(pkg, module+"/"))
}

func runtimePackage(pkg string) bool {
	return pkg == "runtime" || strings.HasPrefix(pkg, "runtime/") || strings.HasPrefix(pkg, "internal/runtime/")
}

// packageOf is the import path in a linker's name: up to the first dot after the
// last slash, type arguments aside. Dots in the last element are written %2e
// (cmd/internal/objabi, PathToPrefix).
func packageOf(function string) string {
	head, _, _ := strings.Cut(function, "[")
	slash := strings.LastIndexByte(head, '/') + 1
	name, _, _ := strings.Cut(head[slash:], ".")
	return strings.ReplaceAll(head[:slash]+name, "%2e", ".")
}

func firstElement(pkg string) string {
	first, _, _ := strings.Cut(pkg, "/")
	return first
}
