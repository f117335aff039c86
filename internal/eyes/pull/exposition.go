package pull

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// textFormat is what a server is asked for: the text format of Prometheus,
// https://prometheus.io/docs/instrumenting/exposition_formats/.
const textFormat = "text/plain; version=0.0.4; charset=utf-8"

// Kinds of families, as a TYPE line has them. A family without that line is untyped.
const (
	kindCounter   = "counter"
	kindGauge     = "gauge"
	kindHistogram = "histogram"
	kindSummary   = "summary"
	kindUntyped   = "untyped"
)

// family is the sum of a metric over its labels: of its values, or of its observations
// where it is a histogram or a summary.
type family struct {
	kind string
	sum  float64
	seen bool // it has a line with what is summed
}

// parseMetrics reads the text format, and sums each family. Labels are read to find
// their end, and left out. Beside the format of all names it reads that of version 1.0.0, in which a name may be
// quoted and stand with the labels. Errors name the line.
//
// It is our own, as the library's brings protobuf, with which the linker keeps every exported method of the
// program: 6 MB (docs/adr/0119). The library judges it in its tests.
func parseMetrics(text []byte) (map[string]*family, error) {
	families := map[string]*family{}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if err := parseLine(families, strings.TrimRight(string(line), "\n")); err != nil {
			return nil, fmt.Errorf("error in line %d: %w", number, err)
		}
	}
	return families, nil
}

const blanks = " \t"

func parseLine(families map[string]*family, line string) error {
	line = strings.Trim(line, blanks)
	switch {
	case line == "":
		return nil
	case line[0] == '#':
		return parseComment(families, line[1:])
	}
	name, rest, err := parseSeries(line)
	if err != nil {
		return err
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 || len(fields) > 2 {
		return fmt.Errorf("want a value and perhaps a time behind %q, not %q", name, rest)
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return fmt.Errorf("the value of %q is %q", name, fields[0])
	}
	if len(fields) == 2 {
		if _, err := strconv.ParseInt(fields[1], 10, 64); err != nil {
			return fmt.Errorf("the time of %q is %q", name, fields[1])
		}
	}
	count(families, name, value)
	return nil
}

// parseComment reads "TYPE name kind"; all other comments say nothing here.
func parseComment(families map[string]*family, text string) error {
	word, rest := word(text)
	if word != "TYPE" {
		return nil
	}
	name, rest, err := metricName(strings.TrimLeft(rest, blanks))
	if err != nil {
		return err
	}
	kind := strings.ToLower(strings.TrimSpace(rest))
	switch kind {
	case kindCounter, kindGauge, kindHistogram, kindSummary, kindUntyped:
	case "gauge_histogram":
		kind = kindHistogram
	default:
		return fmt.Errorf("%q has the unknown type %q", name, kind)
	}
	if old := families[name]; old != nil {
		return fmt.Errorf("the type of %q comes twice, or behind its values", name)
	}
	families[name] = &family{kind: kind}
	return nil
}

// word is the first word of a text, and what follows it.
func word(text string) (first, rest string) {
	text = strings.TrimLeft(text, blanks)
	if i := strings.IndexAny(text, blanks); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// parseSeries reads the name and the labels before a value.
func parseSeries(line string) (name, rest string, err error) {
	if line[0] != '{' {
		if name, line, err = metricName(line); err != nil {
			return "", "", err
		}
	}
	line = strings.TrimLeft(line, blanks)
	if strings.HasPrefix(line, "{") {
		inside, rest, err := parseLabels(line[1:])
		if err != nil {
			return "", "", err
		}
		if name == "" {
			name = inside
		}
		line = rest
	}
	if name == "" {
		return "", "", fmt.Errorf("no name in %q", line)
	}
	return name, line, nil
}

// metricName is the name at the start of a text, which may be quoted.
func metricName(text string) (name, rest string, err error) {
	if strings.HasPrefix(text, `"`) {
		return quoted(text)
	}
	end := len(text)
	for i, r := range text {
		letter := r == '_' || r == ':' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && r >= '0' && r <= '9'
		if !letter {
			end = i
			break
		}
	}
	if end == 0 {
		return "", "", fmt.Errorf("no name begins %q", cut(text))
	}
	return text[:end], text[end:], nil
}

// parseLabels reads labels up to their brace: key="value", and in version 1.0.0 a name in
// quotes among them.
func parseLabels(text string) (name, rest string, err error) {
	for {
		text = strings.TrimLeft(text, blanks)
		if strings.HasPrefix(text, "}") {
			return name, text[1:], nil
		}
		var key string
		if key, text, err = metricName(text); err != nil {
			return "", "", err
		}
		text = strings.TrimLeft(text, blanks)
		if strings.HasPrefix(text, "=") {
			if _, text, err = quoted(strings.TrimLeft(text[1:], blanks)); err != nil {
				return "", "", err
			}
			text = strings.TrimLeft(text, blanks)
		} else if name == "" {
			name = key
		} else {
			return "", "", fmt.Errorf("%q has no value", key)
		}
		if strings.HasPrefix(text, ",") {
			text = text[1:]
		} else if !strings.HasPrefix(text, "}") {
			return "", "", fmt.Errorf("no comma and no brace before %q", cut(text))
		}
	}
}

// quoted is the text in quotes at the start of another, with \\, \" and \n in it.
func quoted(text string) (inside, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", fmt.Errorf("no quote before %q", cut(text))
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			if !utf8.ValidString(b.String()) {
				return "", "", fmt.Errorf("%q is not UTF-8", cut(b.String()))
			}
			return b.String(), text[i+1:], nil
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
			case '"', '\\':
				b.WriteByte(text[i])
			default:
				return "", "", fmt.Errorf(`\%c is not known`, text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", fmt.Errorf("no quote ends %q", cut(text))
}

// cut is the start of a text that is shown.
func cut(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// count adds a value to its family: the one of its name, or the histogram or summary
// whose count it is. Buckets, quantiles and sums are not counted.
func count(families map[string]*family, name string, value float64) {
	if base, part := observed(families, name); base != nil {
		base.seen = true
		if part == "_count" {
			base.sum += value
		}
		return
	}
	f := families[name]
	if f == nil {
		f = &family{kind: kindUntyped}
		families[name] = f
	}
	f.seen = true
	if f.kind != kindHistogram && f.kind != kindSummary {
		f.sum += value
	}
}

// observed is the histogram or summary that a name is a part of, and the part.
func observed(families map[string]*family, name string) (f *family, part string) {
	for _, part := range []string{"_count", "_sum", "_bucket"} {
		base, is := strings.CutSuffix(name, part)
		if f := families[base]; is && f != nil && (f.kind == kindHistogram || f.kind == kindSummary && part != "_bucket") {
			return f, part
		}
	}
	return nil, ""
}

// figure is what a family says of the work.
func (f *family) figure(name string) sample.Figure {
	figure := sample.Figure{Name: name, Kind: sample.CounterKind, Value: f.sum}
	switch f.kind {
	case kindHistogram, kindSummary:
		figure.Name += "_count"
	case kindGauge:
		figure.Kind = sample.GaugeKind
	case kindUntyped:
		if !strings.HasSuffix(name, "_total") && !strings.HasSuffix(name, "_count") {
			figure.Kind = sample.GaugeKind
		}
	}
	return figure
}
