package source

import "strings"

// ofVariables is what declared says of code that initialises variables of a package. No
// function has that name: it is a keyword.
const ofVariables = "var"

// declared is the name of the declaration that a function of the linker's is of:
// "Put" of "example.org/shop/cache.(*Cache[...]).Put.func1.2", "init" of "main.init.0",
// ofVariables of a closure of a package's variable. It is "" for what no declaration is
// known of: wrappers, and what is not a name at all.
func declared(function string) string {
	name := function[strings.LastIndexByte(function, '/')+1:]
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "-fm"), "[")
	if open := strings.Index(function, "["); open >= 0 { // type arguments may hold slashes and dots
		head := function[:open]
		tail := function[strings.LastIndexByte(function, ']')+1:]
		name = head[strings.LastIndexByte(head, '/')+1:] + tail
	}
	_, name, ok := strings.Cut(strings.TrimSuffix(name, "-fm"), ".")
	if !ok {
		return ""
	}
	if strings.HasPrefix(name, "(") { // a method: "(*Cache).Put"
		if _, name, ok = strings.Cut(name, ")."); !ok {
			return ""
		}
		name, _, _ = strings.Cut(name, ".")
		return name
	}
	parts := strings.Split(name, ".")
	switch {
	case parts[0] == "init":
		return ofInit(parts[1:])
	case len(parts) > 1 && parts[0] == "glob" && parts[1] == "": // until Go 1.20, cmd/compile/internal/ir/func.go
		return ofVariables
	case len(parts) > 1 && !closure(parts[1]): // a method of a value: "Cache.Put"
		return parts[1]
	}
	return parts[0]
}

// called is what a function is called for people: as it is declared, or as the linker
// has it.
func called(function string) string {
	if name := declared(function); name != "" && name != ofVariables {
		return name
	}
	return function
}

// ofInit tells the functions that all are called init: "init.0" and its closures
// "init.0.func1" are of a declared one, "init", "init.ializers" and "init.func1" set
// variables (cmd/compile/internal/pkginit, since Go 1.21 for closures).
func ofInit(rest []string) string {
	if len(rest) > 0 && rest[0] != "" && strings.Trim(rest[0], "0123456789") == "" {
		return "init"
	}
	return ofVariables
}

// closure reports whether a name is one that the compiler gives a function literal, "func1", "gowrap2" or a plain number.
func closure(name string) bool {
	for _, prefix := range []string{"func", "gowrap", "deferwrap", ""} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}

// declares says whether a line is within the declaration of a function: the last
// declaration at the left edge at or above the line is its own, and has not ended. A
// function of which no declaration is known has none.
func (f *file) declares(function string, line int) bool {
	name := declared(function)
	switch name {
	case "":
		return false
	case ofVariables:
		return f.initialises(line)
	}
	for i := min(line, len(f.lines)) - 1; i >= 0; i-- {
		if text, ok := strings.CutPrefix(f.lines[i], "func "); ok {
			return nameOf(text) == name && (i == line-1 || f.end(i+1) >= line)
		}
	}
	return false
}

// initialises says whether a line is within a declaration of variables at the left edge.
// Its lines are indented, but for the one that closes it.
func (f *file) initialises(line int) bool {
	for i := min(line, len(f.lines)) - 1; i >= 0; i-- {
		text := f.lines[i]
		switch {
		case strings.HasPrefix(text, "var ") || strings.HasPrefix(text, "var("):
			return true
		case text == "", text[0] == '\t', text[0] == ' ':
		case i == line-1 && (text[0] == '}' || text[0] == ')'):
		default:
			return false
		}
	}
	return false
}

// nameOf is the name in what follows "func " of a declaration: "(c *Cache[K]) Put(".
func nameOf(text string) string {
	if strings.HasPrefix(text, "(") {
		_, rest, ok := strings.Cut(text, ")")
		if !ok {
			return ""
		}
		text = strings.TrimLeft(rest, " ")
	}
	if end := strings.IndexAny(text, "([ "); end >= 0 {
		return text[:end]
	}
	return text
}

// end is the last line of what begins at the line start: as gofmt writes it, the
// first line below that has a closing brace and no more spaces before it.
func (f *file) end(start int) int {
	first := f.lines[start-1]
	indent := first[:len(first)-len(strings.TrimLeft(first, "\t "))]
	if strings.Count(first, "{") > 0 && strings.Count(first, "{") == strings.Count(first, "}") {
		return start
	}
	for i := start; i < len(f.lines); i++ {
		if strings.HasPrefix(f.lines[i], indent+"}") {
			return i + 1
		}
	}
	return len(f.lines)
}
