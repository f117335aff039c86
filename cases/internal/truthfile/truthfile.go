// Package truthfile reads truth.json, which stands in each case's folder and
// says what is true of each of its faults: what a tool that explains memory
// should answer, what it must not, and the runs that show it.
//
// Lines are not kept by hand. The source marks them with comments, and Check
// holds the file against the marks; Relocate rewrites it after an edit.
package truthfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// FileName is the name of the file in every case's folder.
const FileName = "truth.json"

// Schema is the version of the form that this package reads.
const Schema = 2

// Truth is what is said of one case.
type Truth struct {
	Schema int    `json:"schema"`
	Case   string `json:"case"` // the folder, and the program in it: "picoshare"
	// Packages are its main packages, seen from the folder of all cases. {bin}/NAME
	// of a command is what Program makes of one.
	Packages []string `json:"packages"`
	Faults   []Fault  `json:"faults"`
}

// Cases are the folders of all cases, in the order in which tables show them.
func Cases() []string {
	return []string{"picoshare", "rangemirror", "trafficagent", "objectsync", "raftcache"}
}

// Fault is what is known of one fault, whoever looks for it.
type Fault struct {
	// Name is what -fault takes. "none" is the repaired program where it, too,
	// can be mistaken for a faulty one.
	Name string `json:"fault"`

	// Place is the mistake: the line that carries "fault: NAME". Absent for "none".
	Place
	// Seen are further lines of the case's own code at which the memory shows,
	// and which an answer may name as well: those with "also: NAME".
	Seen []Place `json:"seen,omitempty"`
	// Process is a word of the arguments of the process that has the memory,
	// where there are several.
	Process string `json:"process,omitempty"`

	Effect   string   `json:"effect"` // what it does, in sentences
	Fix      string   `json:"fix"`    // what ends it
	NotClaim []string `json:"must_not_claim"`

	Runs []Run `json:"runs"` // the first shows it best
}

// Place is a line of a case's own code.
type Place struct {
	Function string `json:"function,omitempty"` // as the runtime names it: "main.(*server).upload"
	File     string `json:"file,omitempty"`     // relative to the case's folder
	Line     int    `json:"line,omitempty"`
}

// Run is one run of the case that shows a fault, and with "none" in its place
// what the repaired program does under the same load.
type Run struct {
	Limit uint64 `json:"limit_bytes"` // of the program and its children; 0: none
	// Cold means that the program must be read from disk, as after a deployment (see symptom.Options.Cold): the same
	// limit ends otherwise for one in memory.
	Cold bool `json:"cold,omitempty"`

	// Commands are words with spaces between; Expand fills in their names in
	// braces. Before ends before the program starts. Beside runs as long as the
	// program does, is no part of it, and answers on BesideReady before it starts.
	Before      string `json:"before,omitempty"`
	Beside      string `json:"beside,omitempty"`
	BesideReady string `json:"beside_ready,omitempty"`
	Command     string `json:"command"`         // takes {fault}
	Ready       string `json:"ready,omitempty"` // the address that answers once the load may begin
	Load        string `json:"load,omitempty"`  // when it ends, the program is asked to; absent: the program ends by itself
	Seconds     int    `json:"seconds"`         // that it takes at most on two processors
	// Stay means that the program has no end and no load; it is asked to end after Seconds.
	Stay bool `json:"stay,omitempty"`

	Faulty   *Verdict `json:"faulty,omitempty"` // nil for "none"
	Repaired Verdict  `json:"repaired"`
}

// Verdict is what a right answer to a run says.
type Verdict struct {
	// Outcomes that are seen: alive, killed, livelock (see symptom.Outcome).
	Outcomes []string `json:"outcomes"`
	// Classes that are right, the best first. Every other one is false, but for
	// "inconclusive": that is not right, and accuses nobody.
	Classes []string `json:"classes"`
	// NamesLine is whether the answer must, may or must not name a culprit. One
	// that is named must be the fault's place or one of Seen.
	NamesLine string `json:"names_line"`
}

// Read reads the truth of the case in dir.
func Read(dir string) (*Truth, error) {
	path := filepath.Join(dir, FileName)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var t Truth
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if t.Schema != Schema {
		return nil, fmt.Errorf("read %s: its schema is %d, want %d", path, t.Schema, Schema)
	}
	return &t, nil
}

// Write writes the truth of the case in dir.
func (t *Truth) Write(dir string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(t); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, FileName), compact(b.Bytes()), 0o644)
}

var (
	innermost = regexp.MustCompile(`[\[{]\n(?:[^\[\]{}]|\[[^\n]*\])*\n\s*[\]}]`)
	indent    = regexp.MustCompile(`\n\s*`)
)

// compact puts short lists and objects on a line of their own: a verdict, a
// place.
func compact(b []byte) []byte {
	const width, rounds = 130, 2 // an object of lists
	for range rounds {
		b = innermost.ReplaceAllFunc(b, func(part []byte) []byte {
			inside := bytes.TrimSpace(part[1 : len(part)-1])
			line := slices.Concat(part[:1], indent.ReplaceAll(inside, []byte(" ")), part[len(part)-1:])
			if len(line) > width {
				return part
			}
			return line
		})
	}
	return b
}

// Fault is the entry of that name, or nil.
func (t *Truth) Fault(name string) *Fault {
	for i := range t.Faults {
		if t.Faults[i].Name == name {
			return &t.Faults[i]
		}
	}
	return nil
}

// Names says whether a culprit that was named is one of the fault's lines. file
// may be longer than the truth's, as compilers record it.
func (f *Fault) Names(function, file string, line int) bool {
	for _, p := range append([]Place{f.Place}, f.Seen...) {
		if p.Line != 0 && p.Line == line && p.within(function) && (file == p.File || filepath.Base(file) == filepath.Base(p.File)) {
			return true
		}
	}
	return false
}
