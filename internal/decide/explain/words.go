package explain

import (
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// ShortFunc is a function's name as people say it: the package's last element,
// which is left out for main. Of type arguments, which may be whole structs, it has "[...]".
func ShortFunc(name string) string {
	name = bareName(name)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	return strings.TrimPrefix(strings.ReplaceAll(name, "%2e", "."), "main.") // how the linker writes a dot in a path's last element
}

// ShortFile is a file with the folder it lies in.
func ShortFile(file string) string {
	dir, base := path.Split(file)
	if dir = path.Base(dir); dir == "." || dir == "/" {
		return base
	}
	return dir + "/" + base
}

// place is a line as people say it.
func place(file string, line int) string {
	if file == "" {
		return "an unknown line"
	}
	return fmt.Sprintf("%s:%d", ShortFile(file), line)
}

// count is n things: "1 call", "41 calls". The noun's plural takes an s.
func count(n int, noun string) string { return units.Count(n, noun) }

// figure is a count a second with two digits, or all of its own.
func figure(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// was agrees with n.
func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func size(b sample.Bytes) string { return units.Short(b) }

// partOf is a part of an amount that was said before: "nearly all" where it would be the same figure again.
func partOf(part, whole sample.Bytes) string {
	if float64(part) >= 0.99*float64(whole) {
		return "nearly all"
	}
	return size(part)
}

func limit(b sample.Bytes) string { return units.Limit(b) }

func fsize(b float64) string { return units.Short(int64(b)) }

// list joins words: "a", "a and b", "a, b and c".
func list(words []string, last string) string { return units.List(words, last) }

// share is a part in percent.
func share(part float64) string { return units.Share(part) }

// root is a standard error from a variance.
func root(variance float64) sample.Bytes { return sample.Bytes(math.Sqrt(variance)) }

// several reports whether more processes than one were watched, those that only share the
// cgroup aside.
func (c *Case) several() bool {
	n := 0
	for _, p := range c.Moment.Processes {
		if c.besideRow(p.Key) == "" {
			n++
		}
	}
	return n > 1
}

// in names the subject where several processes were watched: " in worker (pid 7)".
func (c *Case) in() string {
	if !c.several() {
		return ""
	}
	return " in " + c.name()
}

// of is the same for what belongs to it: " of worker (pid 7)".
func (c *Case) of() string {
	if !c.several() {
		return ""
	}
	return " of " + c.name()
}

// name is the subject's program, and its pid where there are several.
func (c *Case) name() string {
	name := "the program"
	if p := c.program(c.Subject); p != nil && p.Name != "" {
		name = p.Name
	}
	if !c.several() {
		return name
	}
	return fmt.Sprintf("%s (pid %d)", name, c.Subject.PID)
}

// paceWords says a rate in the unit in which it is easily read: "7.3 MiB a second", "12.0 MiB a minute".
func paceWords(perMinute float64) string {
	if perMinute >= 60*(1<<20) {
		return fsize(perMinute/60) + " a second"
	}
	return fsize(perMinute) + " a minute"
}
