package heapgraph

import (
	"regexp"
	"strings"
)

// isValue says whether a type is a struct of a name: "deque.Deque[int]", not "[]deque.Deque".
func isValue(t string) bool {
	name, _, _ := strings.Cut(t, "[")
	return strings.Contains(name, ".") && !strings.HasPrefix(name, "*") && !strings.HasPrefix(name, "chan ") && !strings.HasPrefix(name, "main.")
}

// pointerTo is the type of what leads to objects of a type.
func pointerTo(t string) string {
	if t == "?" || t == "" || strings.HasPrefix(t, "map[") || strings.HasPrefix(t, "[]") || strings.HasPrefix(t, "chan ") {
		return t
	}
	return "*" + t
}

// variableName is what a variable is called, and a name whose package is the variable's:
// of one without a name that of a function that uses it.
func variableName(name string) (called, user string) {
	if !strings.HasPrefix(name, "a variable at ") {
		return name, name
	}
	_, user, ok := strings.Cut(strings.TrimSuffix(name, " uses it)"), " (")
	if !ok {
		return name, "runtime."
	}
	return "a variable that " + user + " uses", user
}

// isRuntime says whether a package's names are the runtime's, which no source uses.
func isRuntime(pkg string) bool {
	return pkg == "runtime" || pkg == "sync" || pkg == "sync/atomic" || strings.HasPrefix(pkg, "internal/")
}

// isUnknown says whether most of what lies right below a path has no type: it is not known
// then how many things that are.
func (n *owners) isUnknown(at uint32) bool {
	unknown, known := uint64(0), uint64(0)
	for _, c := range n.children[at] {
		if p := &n.a.paths[c]; p.typ == 0 {
			unknown += p.retains
		} else {
			known += p.retains
		}
	}
	return unknown > known
}

// shortType is a type as the source of package main writes it.
func shortType(t string) string {
	t = importPath.ReplaceAllString(t, "")
	for _, inside := range []string{" header", " directory", " table", " entries"} {
		t = strings.TrimSuffix(t, inside)
	}
	if t = mainPackage.ReplaceAllString(t, ""); runtimeType.MatchString(t) {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(t, "interface {}", "any"), "uint8", "byte")
}

// shortName is a function's or variable's name without directories.
func shortName(s string) string { return importPath.ReplaceAllString(s, "") }

func isInterface(t string) bool {
	return t == "any" || t == "error" || strings.HasPrefix(t, "interface {")
}

// importPath is the directories of an import path, behind which the package's name is.
var importPath = regexp.MustCompile(`(?:[\w.~-]+/)+`)
