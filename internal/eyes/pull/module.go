package pull

import (
	"path"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ModuleOf infers the path of the program's main module, which no profile names,
// from where the source files of its functions lie: those of other modules lie
// below a directory with a version (module@v1.2.3) or below vendor, those of the
// standard library where its packages' paths end. What is left is the program's
// own. "" where that names no one path.
func ModuleOf(sites []sample.Site) string {
	own, foreign := map[string]bool{}, map[string]bool{}
	for _, s := range sites {
		for _, l := range s.Stack {
			for _, f := range l.Frames {
				p := packageOf(f.Func)
				switch {
				case p == "main" || p == "" || isStandard(p, f.File):
				case strings.Contains(f.File, "@v") || strings.Contains(f.File, "/vendor/"):
					foreign[p] = true
				default:
					own[p] = true
				}
			}
		}
	}
	module := commonPath(own)
	for p := range foreign {
		if within(p, module) {
			return ""
		}
	}
	return module
}

// packageOf is the import path in a linker's name of a function: all up to the
// first point behind the last slash. Type arguments may hold slashes, too.
func packageOf(function string) string {
	function, _, _ = strings.Cut(function, "[")
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return ""
	}
	return function[:slash+dot]
}

// isStandard reports whether the package's path has no host, and its file lies where the standard library's do:
// GOROOT/src/PACKAGE, or PACKAGE alone after -trimpath.
func isStandard(pkg, file string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	if strings.Contains(first, ".") && first != "vendor" {
		return false
	}
	dir := path.Dir(file)
	return dir == pkg || strings.HasSuffix(dir, "/src/"+pkg) || file == "" || !strings.Contains(file, "/")
}

// commonPath is the longest path that all packages lie within. A host alone is
// no module.
func commonPath(packages map[string]bool) string {
	var common []string
	first := true
	for p := range packages {
		parts := strings.Split(p, "/")
		if first {
			common, first = parts, false
			continue
		}
		n := 0
		for n < min(len(common), len(parts)) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	if len(common) == 1 && strings.Contains(common[0], ".") {
		return ""
	}
	return strings.Join(common, "/")
}

func within(pkg, module string) bool {
	return module != "" && (pkg == module || strings.HasPrefix(pkg, module+"/"))
}
