package source

import "strings"

// declared is the name of the declaration that a function of the linker's is of:
// "Put" of "example.org/shop/cache.(*Cache[...]).Put.func1.2". It is "" for what
// is in no function: closures of package variables, init of them, and wrappers.
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
	case parts[0] == "" || parts[0] == "glob" || parts[0] == "init":
		return ""
	case len(parts) > 1 && !closure(parts[1]): // a method of a value: "Cache.Put"
		return parts[1]
	}
	return parts[0]
}

// closure: the name that the compiler gives a function literal, "func1", "gowrap2"
// or a plain number.
func closure(name string) bool {
	for _, prefix := range []string{"func", "gowrap", "deferwrap", ""} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}

// declares says whether a line is within the declaration of a function: the last
// "func" at the left edge at or above the line has its name. A function without a
// declaration is believed.
func (f *file) declares(function string, line int) bool {
	name := declared(function)
	if name == "" {
		return true
	}
	for i := min(line, len(f.lines)) - 1; i >= 0; i-- {
		if text, ok := strings.CutPrefix(f.lines[i], "func "); ok {
			return nameOf(text) == name && (i == line-1 || f.end(i+1) >= line)
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
