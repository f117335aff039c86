package explain

import (
	"strconv"
	"strings"
)

// plainName is the name of a C++ function as its source has it, without its arguments and those of templates: of
// _ZN6duckdb10ColumnData6AppendEv it is duckdb::ColumnData::Append. Other names, and what is not understood, stay as they are
// (Itanium C++ ABI, 5.1: nested names).
func plainName(symbol string) string {
	rest, ok := strings.CutPrefix(symbol, "_Z")
	if !ok {
		return symbol
	}
	var parts []string
	if inner, nested := strings.CutPrefix(rest, "N"); nested {
		rest = strings.TrimLeft(inner, "rVKRO")
	}
	if inner, std := strings.CutPrefix(rest, "St"); std {
		parts, rest = append(parts, "std"), inner
	}
	for {
		name, after, ok := sourceName(rest)
		if !ok {
			break
		}
		parts, rest = append(parts, name), after
	}
	if len(parts) == 0 {
		return symbol
	}
	name, last := strings.Join(parts, "::"), parts[len(parts)-1]
	switch {
	case strings.HasPrefix(rest, "I"):
		return name + "<…>"
	case strings.HasPrefix(rest, "C"):
		return name + "::" + last
	case strings.HasPrefix(rest, "D"):
		return name + "::~" + last
	}
	return name
}

// sourceName takes a name with its length before it.
func sourceName(s string) (name, rest string, ok bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n == 0 || n > len(s)-digits {
		return "", s, false
	}
	return s[digits:][:n], s[digits+n:], true
}
