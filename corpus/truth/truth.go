// Package truth is what is true of one run of a program of the corpus: what the
// runner writes beside each recording, and what the judge reads.
package truth

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Suffix is what a recording's truth is called by: NAME.hwm has NAME.truth.json.
const Suffix = ".truth.json"

// Truth is what an answer about one recording must say.
type Truth struct {
	Family string `json:"family"`
	Name   string `json:"name"`
	// Faulty means that something is to be named. Else each class that is not in Classes is a false alarm.
	Faulty  bool     `json:"faulty"`
	Classes []string `json:"classes"` // accepted; "inconclusive" where no more can be known, else it is undecided
	// The mistake: the first marked line's function, and every line that may be named.
	Function string `json:"function"`
	File     string `json:"file"` // below the module's root
	Lines    []int  `json:"lines"`
	// Elsewhere are lines of the program's other files that may be named, too.
	Elsewhere []Place  `json:"elsewhere,omitempty"`
	NeedsLine bool     `json:"needs_line"` // a line or the holder must be named
	Holder    []string `json:"holder"`     // accepted parts of the name of who keeps it
	// Of a fault in a module: parts of the name of each function, and the ends of each
	// file, that may be named instead of a line.
	Functions []string `json:"functions,omitempty"`
	Files     []string `json:"files,omitempty"`
	Says      []string `json:"says"`  // parts of the sentence, of which one must be there; empty: any
	Trend     string   `json:"trend"` // growing, flat, comes-and-goes or unknown
	Readings  int      `json:"readings_expected"`
	Run       Run      `json:"run"`
}

// Place is some lines of a file.
type Place struct {
	File  string `json:"file"` // below the module's root
	Lines []int  `json:"lines"`
}

// Marked says that a line of a file, as a compiler recorded its path, may be named.
func (t *Truth) Marked(file string, line int) bool {
	for _, p := range append([]Place{{t.File, t.Lines}}, t.Elsewhere...) {
		if slices.Contains(p.Lines, line) && strings.HasSuffix("/"+file, "/"+p.File) {
			return true
		}
	}
	return false
}

// Run is how the program was run. Amounts are bytes.
type Run struct {
	LimitKind  string  `json:"limit_kind"` // none, far, near or killed
	Limit      int64   `json:"limit"`      // 0: none
	GOGC       string  `json:"gogc"`       // "": not set
	GOMEMLIMIT int64   `json:"gomemlimit"` // 0: not set
	Background string  `json:"background"`
	Rate       int64   `json:"rate"` // bytes a second
	Unit       int     `json:"unit"`
	Total      int64   `json:"total"`
	Seconds    float64 `json:"seconds"`
	Stopped    bool    `json:"stopped"` // by a signal; else it ends by itself
	Stripped   bool    `json:"stripped"`
	Toolchain  string  `json:"toolchain"` // "": the default one
	Command    string  `json:"command"`
	Program    string  `json:"program_sha256"`
}

// Read reads a truth.
func Read(file string) (*Truth, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	t := new(Truth)
	if err := json.Unmarshal(text, t); err != nil {
		return nil, fmt.Errorf("read the truth %s: %w", file, err)
	}
	return t, nil
}

// Write writes t to file.
func (t *Truth) Write(file string) error {
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// Recording is where the recording of the truth at file is.
func Recording(file string) string { return strings.TrimSuffix(file, Suffix) + ".hwm" }

// All lists the truths of dir by name.
func All(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+Suffix))
	sort.Strings(files)
	return files, err
}
