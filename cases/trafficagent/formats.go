package main

import "regexp"

// pattern is a format of data, known by how it is written.
type pattern struct{ name, expression string }

// patterns are tried in this order.
var patterns = []pattern{
	{"uuid", `^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`},
	{"time", `^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$`},
	{"date", `^\d{4}-\d{2}-\d{2}$`},
	{"email", `^[^@\s]+@[^@\s]+\.[a-zA-Z]+$`},
	{"ipv4", `^(\d{1,3}\.){3}\d{1,3}$`},
	{"url", `^https?://[^\s/]+(/\S*)?$`},
}

// formats recognises formats of text.
type formats struct {
	compiled []*regexp.Regexp // of each pattern; nil: compiled for each value
}

func newFormats(eachTime bool) *formats {
	f := new(formats)
	if eachTime {
		return f
	}
	for _, p := range patterns {
		f.compiled = append(f.compiled, regexp.MustCompile(p.expression))
	}
	return f
}

// of is the name of the format that a text has, or "".
func (f *formats) of(text string) string {
	for i, p := range patterns {
		if f.pattern(i).MatchString(text) {
			return p.name
		}
	}
	return ""
}

func (f *formats) pattern(i int) *regexp.Regexp {
	if f.compiled != nil {
		return f.compiled[i]
	}
	return regexp.MustCompile(patterns[i].expression) // fault: regexp
}
