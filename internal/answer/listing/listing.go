// Package listing shows functions line by line, with what was allocated under each line of the source and
// is still held: highwater explain --list.
package listing

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/answer/moment"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/files/source"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/sorting"
	"github.com/highwater-go/highwater/internal/words/units"
)

// Schema names the form of a Listing in JSON. Its fields are only ever
// added to.
const Schema = "highwater.source/1"

// ErrNoFunction says that no stack of the heap profile has a function of the name.
var ErrNoFunction = errors.New("no such function")

// mostListed is how many functions a listing shows; the others are counted.
const mostListed = 3

// Listing is functions with what was allocated under each of their lines. No slice
// is nil.
type Listing struct {
	Schema    string      `json:"schema"`
	Side      moment.Side `json:"of"`
	Functions []Function  `json:"functions"` // most held first
	Others    []string    `json:"others"`    // functions of the name that are not listed
	Notes     []string    `json:"notes"`
}

// Function is one function. Its lines are those of the source from the
// first to the last one, or where the source was not found, those with figures.
type Function struct {
	Function string `json:"function"`
	File     string `json:"file"` // as the compiler recorded it
	Start    int    `json:"start_line"`
	Amounts         // of the whole function
	// Path is where the source lies here, "" if it was not found: then Problem is
	// why.
	Path    string `json:"path"`
	Problem string `json:"problem"`
	Lines   []Line `json:"lines"`
}

// Line is one line of it, with what it allocated itself or by a call.
type Line struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Amounts
}

// Amounts is what was held, and had been allocated, at a moment.
type Amounts struct {
	Held      int64 `json:"held_bytes"`
	Error     int64 `json:"error_bytes"` // one standard error of Held
	Growth    int64 `json:"growth_bytes"`
	Allocated int64 `json:"allocated_bytes"`
}

func amountsOf(u heapdiff.Usage) Amounts {
	return Amounts{u.Held.Bytes, int64(u.Error + 0.5), u.Growth.Bytes, u.Allocated.Bytes}
}

// Of is the functions whose name has the text in it, else those that it fits as
// a regular expression. Growth is since the earlier profile, which may be nil.
func Of(s *moment.Profiled, earlier *sample.HeapProfile, name string) (*Listing, error) {
	if s.View == "none" {
		return nil, fmt.Errorf("%w: the heap profile of %s was not read%s", ErrNoFunction, s.Name(), s.WhyNot())
	}
	all := heapdiff.Functions(s.Profile, earlier)
	found, err := named(all, name)
	if err != nil {
		return nil, err
	}
	l := &Listing{Schema: Schema, Side: s.Side(), Functions: []Function{}, Others: []string{}, Notes: append([]string{}, s.Notes()...)}
	for i, u := range found {
		if i >= mostListed {
			l.Others = append(l.Others, u.Func)
			continue
		}
		l.Functions = append(l.Functions, listed(s, u, earlier))
	}
	if s.View == "published" {
		l.Notes = append(l.Notes, "the live bytes come from the program's own heap profile, which lags by up to two GCs")
	}
	return l, nil
}

// named are the functions that a name stands for.
func named(all []heapdiff.Usage, name string) (out []heapdiff.Usage, err error) {
	for _, u := range all {
		if strings.Contains(u.Func, name) {
			out = append(out, u)
		}
	}
	exact := slices.DeleteFunc(slices.Clone(out), func(u heapdiff.Usage) bool { return u.Func != name && explain.ShortFunc(u.Func) != name })
	if len(exact) > 0 {
		return exact, nil
	}
	if len(out) > 0 {
		return out, nil
	}
	pattern, err := regexp.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is in no function's name, and no regular expression: %w", ErrNoFunction, name, err)
	}
	for _, u := range all {
		if pattern.MatchString(u.Func) {
			out = append(out, u)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: nothing was allocated under %q; the most was under %s", ErrNoFunction, name, mostUnder(all))
	}
	return out, nil
}

// mostUnder names some functions that one could have meant.
func mostUnder(all []heapdiff.Usage) string {
	var names []string
	for _, u := range all {
		if len(names) < 5 && !strings.HasPrefix(u.Func, "runtime.") {
			names = append(names, explain.ShortFunc(u.Func))
		}
	}
	return units.List(names, "and")
}

func listed(s *moment.Profiled, u heapdiff.Usage, earlier *sample.HeapProfile) Function {
	f := Function{Function: u.Func, File: u.File, Amounts: amountsOf(u), Lines: []Line{}}
	for _, one := range heapdiff.Under(s.Profile, earlier, func(name string) bool { return name == u.Func }) {
		f.Lines = append(f.Lines, Line{Line: one.Line, Amounts: amountsOf(one)})
		f.Start = one.StartLine
	}
	sorting.Stable(f.Lines, func(a, b Line) int { return cmp.Compare(a.Line, b.Line) })
	return f
}

// FillIn puts the source to the lines, as far as it is found and is the program's.
// A file that was changed after the program began is said to be so.
func (l *Listing) FillIn(find *source.Finder, began time.Time) {
	for i := range l.Functions {
		f := &l.Functions[i]
		if len(f.Lines) == 0 {
			continue
		}
		text, err := find.Func(f.Function, f.File, f.Start, f.Lines[len(f.Lines)-1].Line)
		if err != nil {
			f.Problem = err.Error()
			continue
		}
		f.Path = text.Path
		f.fill(text)
		if text.Modified.After(began) {
			l.Notes = append(l.Notes, text.Path+" was changed after the program began: its lines may have moved")
		}
	}
}

func (f *Function) fill(text *source.Func) {
	known := map[int]Amounts{}
	for _, l := range f.Lines {
		known[l.Line] = l.Amounts
	}
	f.Lines = f.Lines[:0]
	for i, line := range text.Lines {
		f.Lines = append(f.Lines, Line{text.First + i, line, known[text.First+i]})
	}
}
