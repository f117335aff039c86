package gobin

import "strings"

// OwnerKind says whose code a function is.
type OwnerKind string

const (
	OwnModule  OwnerKind = "own"        // package main, or another of the main module
	Dependency OwnerKind = "dependency" // a module linked in
	Standard   OwnerKind = "std"        // the standard library, the runtime, what the linker adds
)

// Owner is whose code a function is.
type Owner struct {
	Kind    OwnerKind
	Package string // import path: "net/http"
	Module  string // path of the module; "" for the standard library and where the build did not say
}

// Owner tells whose code the function is, by its package path and the build's
// list of modules. The name may be Func or Symbol of a Frame. Where a build
// without a list is asked about a package that looks like a module's ("host.tld/..."),
// the answer is a dependency without a module.
func (b *Binary) Owner(funcName string) Owner {
	pkg := packagePath(funcName)
	if pkg == "main" {
		return Owner{OwnModule, b.MainPackage, b.Module.Path}
	}
	if within(pkg, b.Module.Path) {
		return Owner{OwnModule, pkg, b.Module.Path}
	}
	if mod := b.moduleOf(pkg); mod != "" {
		return Owner{Dependency, pkg, mod}
	}
	first, _, _ := strings.Cut(pkg, "/")
	if strings.Contains(first, ".") {
		return Owner{Dependency, pkg, ""}
	}
	return Owner{Standard, pkg, ""}
}

// moduleOf is the longest path of a module that holds the package.
func (b *Binary) moduleOf(pkg string) (longest string) {
	for _, d := range b.Deps {
		if within(pkg, d.Path) && len(d.Path) > len(longest) {
			longest = d.Path
		}
	}
	return longest
}

func within(pkg, module string) bool {
	rest, ok := strings.CutPrefix(pkg, module)
	return ok && module != "" && (rest == "" || rest[0] == '/')
}

// packagePath takes the package off a function's name: all to the first dot after
// the last slash, type arguments aside. The linker writes dots of a path's last
// element as "%2e" (cmd/internal/objabi.PathToPrefix). Names without a package,
// which assembly and the linker make, give "".
func packagePath(name string) string {
	name, _, _ = strings.Cut(name, "[")
	name = strings.TrimPrefix(name, "type:.eq.")
	name = strings.TrimPrefix(name, "type:.hash.")
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return ""
	}
	return unescape(name[:slash+dot])
}

func unescape(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) && isHex(path[i+1]) && isHex(path[i+2]) {
			b.WriteByte(hex(path[i+1])<<4 | hex(path[i+2]))
			i += 2
			continue
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

func hex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c - 'a' + 10
}
