package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Truth is what truth.json says of one program.
type Truth struct {
	Schema int     `json:"schema"` // 1
	Case   string  `json:"case"`   // the program's folder: "picoshare"
	Faults []Fault `json:"faults"`
}

// Fault is what is known of one fault, whoever looks for it.
type Fault struct {
	// Name is what -fault takes. "none" is the repaired program where it, too,
	// can be mistaken for a faulty one.
	Name string `json:"fault"`
	// Class is the kind of verdict: leak, burst, churn, gc-unaware, native,
	// page-cache, disk, harmless, baseline.
	Class string `json:"class"`
	// Function is the culprit as the runtime names it: "main.(*server).upload".
	// Empty for "none".
	Function string `json:"function,omitempty"`
	// File is relative to the program's folder, Line the one that carries the
	// comment "fault: NAME".
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Effect is what the fault does, in a sentence; Fix what ends it.
	Effect string `json:"effect"`
	Fix    string `json:"fix"`
	// NotClaim lists what would be wrong to say of it.
	NotClaim []string `json:"must_not_claim"`
}

// FileName is the name that the truth has in every program's folder.
const FileName = "truth.json"

// Read reads the truth of the program in dir.
func Read(dir string) (*Truth, error) {
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var t Truth
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, FileName), err)
	}
	return &t, nil
}

// Write writes the truth of the program in dir.
func (t *Truth) Write(dir string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(t); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, FileName), b.Bytes(), 0o644)
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

// Check compares the truth in dir with the program's source there and with the
// faults that it knows. It returns everything that does not agree, joined.
func Check(dir string, known ...string) error {
	t, err := Read(dir)
	if err != nil {
		return err
	}
	var wrong []error
	for _, name := range known {
		if t.Fault(name) == nil {
			wrong = append(wrong, fmt.Errorf("%s knows no fault %s", FileName, name))
		}
	}
	marks, err := Marks(dir)
	if err != nil {
		return err
	}
	for _, f := range t.Faults {
		wrong = append(wrong, f.complete())
		if f.Name != "none" {
			wrong = append(wrong, f.at(marks[f.Name]))
		}
	}
	return errors.Join(wrong...)
}

// Relocate rewrites the truth in dir with where the marks stand now.
func Relocate(dir string) error {
	t, err := Read(dir)
	if err != nil {
		return err
	}
	marks, err := Marks(dir)
	if err != nil {
		return err
	}
	for i := range t.Faults {
		if m, ok := marks[t.Faults[i].Name]; ok {
			t.Faults[i].Function, t.Faults[i].File, t.Faults[i].Line = m.Function, m.File, m.Line
		}
	}
	return t.Write(dir)
}

func (f Fault) complete() error {
	if f.Class == "" || f.Effect == "" || f.Fix == "" || len(f.NotClaim) == 0 {
		return fmt.Errorf("%s: class, effect, fix and must_not_claim must all be said", f.Name)
	}
	return nil
}

// at compares where the truth says the fault is with where its mark stands. A
// function within the marked one ("x.func1") is the marked one's too.
func (f Fault) at(m Mark) error {
	if m == (Mark{}) {
		return fmt.Errorf("%s: no line carries the comment %q", f.Name, markPrefix+f.Name)
	}
	inside := f.Function == m.Function || strings.HasPrefix(f.Function, m.Function+".")
	if f.File != m.File || f.Line != m.Line || !inside {
		return fmt.Errorf("%s: the truth says %s at %s:%d, the mark stands in %s at %s:%d (UPDATE=1 go test rewrites it)",
			f.Name, f.Function, f.File, f.Line, m.Function, m.File, m.Line)
	}
	return nil
}
