package recording

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// OpenRedacted opens a recording of which nothing is handed on that names people,
// places or machines: whatever is made of it is redacted because of that, and not
// because somebody went through it afterwards. Left out are
//
//	meta       host, boot ID, command line (the program's base name stays), load, and
//	           every key that is not known to say none of this
//	programs   directories of the executable, arguments, revision; process IDs are
//	           numbered from 1
//	frames     directories: a file is named by its package's path and its base name
//	events     texts, but those of signals, ends and starts
//	gaps       and other reasons: addresses, paths, hosts, process IDs
//	labels     their values
//	files      whose pages are memory: they are numbered, and keep an extension that says what they are
//
// Names of functions, types, packages, modules and of executables stay, and so do
// times: no answer is possible without them.
func OpenRedacted(path string) (*Reader, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	r.redactor = &redactor{}
	m, err := r.rawMeta()
	if err == nil {
		r.redactor.learn(m)
	}
	return r, err
}

// redactor is what a redacted Reader remembers; nil: nothing is redacted.
type redactor struct {
	pids  map[sample.ProcessKey]int // by number from 1
	names []string                  // of machines and people, to be found in reasons
	files map[string]int            // data files by number from 1
}

// learn notes what the recording says of machines.
func (d *redactor) learn(m Meta) {
	d.name(m.Host)
	for _, key := range []string{metaMetrics, metaProbe, metaReady} {
		for _, word := range strings.Fields(m.More[key]) {
			if u, err := url.Parse(word); err == nil {
				d.name(u.Hostname())
			}
		}
	}
}

// Keys of meta that a caller writes and that a redacted Reader knows.
const (
	metaLoad    = "load"
	metaReady   = "ready"
	metaMetrics = "metrics"
	metaProbe   = "probe"
)

// publicMeta are the keys of meta that name nobody.
var publicMeta = []string{"imported", "watched", "expect", "state", "verdict", "fingerprint"}

var (
	homeOf = regexp.MustCompile(`^(?:/home|/Users|/export/home|/var/home)/([^/]+)`)
	// fileEnding is what tells how a data file is used.
	fileEnding = regexp.MustCompile(`\.(db|sqlite3?|bolt|mmdb|duckdb|sst|ldb|vlog|mem|log|wal|tmp|dat|idx|bin)(-wal|-shm|-journal|\.wal)?$`)
	word       = regexp.MustCompile(`[\w.-]+`)
)

// name notes a name of a machine or a person; of a machine also its first part.
func (d *redactor) name(s string) {
	first, _, _ := strings.Cut(s, ".")
	for _, one := range []string{s, first} {
		if len(one) > 1 && one != "localhost" && one != "127" && !slices.Contains(d.names, one) {
			d.names = append(d.names, one)
		}
	}
}

// home notes who a path belongs to.
func (d *redactor) home(file string) {
	if found := homeOf.FindStringSubmatch(file); found != nil {
		d.name(found[1])
	}
}

// meta is what stays of it.
func (d *redactor) meta(m Meta) Meta {
	m.Host, m.BootID = "", ""
	if len(m.Command) > 0 {
		command := []string{filepath.Base(m.Command[0])}
		if len(m.Command) > 1 {
			command = append(command, procfs.Withheld)
		}
		m.Command = command
	}
	more := map[string]string{}
	for key, value := range m.More {
		switch {
		case slices.Contains(publicMeta, key):
			more[key] = value
		case key == metaLoad || key == metaMetrics || key == metaProbe:
			more[key] = procfs.Withheld
		}
	}
	m.More = more
	return m
}

// program is what stays of a process; parents that are not in the recording have no
// number.
func (d *redactor) program(p sample.Program) sample.Program {
	d.home(p.Exe)
	if d.pids == nil {
		d.pids = map[sample.ProcessKey]int{}
	}
	if d.pids[p.Key] == 0 {
		d.pids[p.Key] = len(d.pids) + 1
	}
	parent := 0
	for key, n := range d.pids {
		if key.PID == p.Parent {
			parent = n
		}
	}
	p.Key, p.Parent = sample.ProcessKey{PID: d.pids[p.Key], Start: uint64(d.pids[p.Key])}, parent
	p.Exe = path.Base(filepath.ToSlash(p.Exe))
	if len(p.Args) > 0 {
		p.Args = []string{path.Base(p.Args[0])}
	}
	p.WhyNot = d.reason(p.WhyNot)
	if p.Go != nil {
		g := *p.Go
		g.Revision = ""
		p.Go = &g
	}
	return p
}

// frame is a call without the directory of its file.
func (d *redactor) frame(f sample.Frame) sample.Frame {
	d.home(f.File)
	if f.File != "" {
		f.File = packageFile(f.Func, f.File)
	}
	return f
}

// packageFile is a file under the path of the package that the function is of, as
// -trimpath has it: "net/http/server.go". That of main, and of what is not Go, has no
// directory.
func packageFile(function, file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	name, _, _ := strings.Cut(function, "[") // a type argument may hold a path
	dir, last := path.Split(name)
	pkg, _, found := strings.Cut(last, ".")
	if !found || dir == "" && pkg == "main" || strings.HasPrefix(dir, "/") {
		return base
	}
	return dir + pkg + "/" + base
}

// event is what happened.
func (d *redactor) event(e sample.Event) sample.Event {
	switch e.Kind {
	case sample.EventStart:
	case sample.EventReady:
		e.Text = procfs.Withheld
	case sample.EventSignal, sample.EventExit:
		e.Text = d.reason(e.Text)
	case sample.EventOOM: // "own container /path": the path names a container, or a unit
		whose := strings.Fields(e.Text)
		e.Text = strings.Join(whose[:min(len(whose), 2)], " ")
	default:
		e.Text = ""
	}
	return e
}

func (d *redactor) gap(g sample.Gap) sample.Gap {
	g.What, g.Why = d.reason(g.What), d.reason(g.Why)
	return g
}

// reason is why something was not seen, without names.
func (d *redactor) reason(text string) string {
	return procfs.PlainReason(word.ReplaceAllStringFunc(text, func(w string) string {
		if slices.Contains(d.names, strings.Trim(w, ".")) {
			return procfs.Withheld
		}
		return w
	}))
}

// capture is a heap's holders.
func (d *redactor) capture(c *sample.HeapCapture) {
	for i := range c.Paths {
		c.Paths[i].Label = procfs.WithoutDirectories(c.Paths[i].Label)
	}
	for i := range c.Collections {
		c.Collections[i].Path = procfs.WithoutDirectories(c.Collections[i].Path)
	}
	for i := range c.Chains {
		c.Chains[i].Path = procfs.WithoutDirectories(c.Chains[i].Path)
	}
	for i := range c.Gaps {
		c.Gaps[i] = d.gap(c.Gaps[i])
	}
}

// labels lose their values: what a program says of its work is its data.
func (d *redactor) labels(list []sample.LabelCount) {
	for i := range list {
		list[i].Value = procfs.Withheld
	}
}
