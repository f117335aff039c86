package heapdiff

import (
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Owner says whose code a function is.
type Owner string

// The owners, nearest to the program's author first.
const (
	Own        Owner = "own"
	Dependency Owner = "dependency"
	Standard   Owner = "standard library"
	Runtime    Owner = "runtime"
)

// OwnerOf tells by the import path in the function's name and the main module's
// path ("" if not known). Package main is own code, as are the main module's
// packages and their external tests. A path whose first element has a dot is a
// dependency; any other is the standard library's, to which the go command
// reserves such paths (go help importpath). Names without a package, which the
// linker and C give, count as the runtime's.
func OwnerOf(function, module string) Owner {
	pkg := packagePath(function)
	first, _, _ := strings.Cut(pkg, "/")
	switch {
	case pkg == "":
		return Runtime
	case strings.Contains(pkg, "/vendor/"):
		return Dependency // vendored outside of modules: "example.org/server/vendor/example.net/lib"
	case pkg == "main" || within(strings.TrimSuffix(pkg, "_test"), module):
		return Own
	case strings.Contains(first, "."):
		return Dependency
	case pkg == "runtime" || within(pkg, "internal/runtime") || within(pkg, "runtime/internal"):
		return Runtime
	}
	return Standard // "vendor/golang.org/x/net/..." too: the standard library's copies
}

func within(pkg, path string) bool {
	return path != "" && (pkg == path || strings.HasPrefix(pkg, path+"/"))
}

// PackageOf is the import path of a function's package, "" where its name has none.
func PackageOf(function string) string { return packagePath(function) }

// packagePath is the import path in a linker's name, "" if it has none: up to the
// first dot after the last slash before any type arguments. Dots and the like in
// the last element are written %2e (cmd/internal/objabi, PathToPrefix). Names of
// the form "go:..." and "type:..." are the linker's own.
func packagePath(function string) string {
	head, _, _ := strings.Cut(function, "[")
	if i := strings.IndexAny(head, "(:"); i >= 0 {
		if head[i] == ':' {
			return ""
		}
		head = head[:i] // a receiver may be a type with slashes of its own
	}
	slash := strings.LastIndexByte(head, '/') + 1
	name, _, ok := strings.Cut(head[slash:], ".")
	if !ok {
		return ""
	}
	return unescape(head[:slash] + name)
}

// unescape turns %xx into the byte it stands for.
func unescape(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) && hex(path[i+1]) >= 0 && hex(path[i+2]) >= 0 {
			out.WriteByte(byte(hex(path[i+1])<<4 | hex(path[i+2])))
			i += 2
			continue
		}
		out.WriteByte(path[i])
	}
	return out.String()
}

func hex(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

// Blamed is who answers for an allocation.
type Blamed struct {
	// Frame is the innermost frame of the program's own code; without any, of a
	// dependency; else of the standard library; else the innermost at all.
	Frame sample.Frame
	Owner Owner
	// Allocates is the innermost frame outside the runtime's leading ones: what
	// called for the memory, in whosever code.
	Allocates sample.Frame
	// Helper is the line that Frame called, where Holders found that it allocates for others, too; zero: Frame's own.
	Helper sample.Frame
}

// Blame names the frames to show for a site. A site without any frame has zero
// ones, and belongs to the runtime.
func Blame(s sample.Site, module string) Blamed {
	return blame(s, func(function string) Owner { return OwnerOf(function, module) })
}

func blame(s sample.Site, ownerOf func(string) Owner) Blamed {
	b := Blamed{Owner: Runtime}
	first := true
	for _, l := range visible(s.Stack) {
		for _, f := range l.Frames {
			owner := ownerOf(f.Func)
			if first {
				b.Frame, b.Owner, b.Allocates, first = f, owner, f, false
			} else if nearness(owner) < nearness(b.Owner) {
				b.Frame, b.Owner = f, owner
			}
			if b.Owner == Own {
				return b
			}
		}
	}
	return b
}

func nearness(o Owner) int {
	switch o {
	case Own:
		return 0
	case Dependency:
		return 1
	case Standard:
		return 2
	}
	return 3
}

// visible is the stack without the runtime's frames at its inner end, as
// runtime/pprof shows it (writeHeapProto); all of it if nothing else is left.
func visible(stack []sample.Location) []sample.Location {
	for i, l := range stack {
		for k, f := range l.Frames {
			if !strings.HasPrefix(f.Func, "runtime.") && !strings.HasPrefix(f.Func, "internal/runtime/") {
				rest := append([]sample.Location{{Address: l.Address, Frames: l.Frames[k:]}}, stack[i+1:]...)
				return rest
			}
		}
		if len(l.Frames) == 0 {
			return stack[i:]
		}
	}
	return stack
}
