package main

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/highwater-go/highwater/corpus/truth"
)

// truth is what is true of r; made is the folder of the programs, whose sources
// are marked.
func (r *run) truth(made string) (*truth.Truth, error) {
	t := &truth.Truth{
		Family: r.family.name, Name: r.name, Faulty: r.faulty, Run: r.Run, Readings: r.readings(),
		File: path.Join("corpus", "made", r.folder(), "main.go"), Lines: []int{}, Holder: []string{}, Says: []string{},
	}
	t.Classes, t.Trend = r.accepted()
	marks, err := truth.Marks(filepath.Join(made, r.folder()))
	if err != nil || !r.faulty {
		return t, err
	}
	if marks, err = truth.Pick(marks, r.marks); err != nil {
		return nil, err
	}
	t.Function, t.NeedsLine = marks[0].Function, !r.hint
	t.Holder, t.Says = append(t.Holder, r.holder...), append(t.Says, r.says...)
	for _, m := range marks {
		r.mark(t, m)
	}
	return t, nil
}

// mark adds a line that may be named.
func (r *run) mark(t *truth.Truth, m truth.Mark) {
	file := path.Join("corpus", "made", r.folder(), m.File)
	if file == t.File {
		t.Lines = append(t.Lines, m.Line)
		return
	}
	if n := len(t.Elsewhere); n > 0 && t.Elsewhere[n-1].File == file {
		t.Elsewhere[n-1].Lines = append(t.Elsewhere[n-1].Lines, m.Line)
		return
	}
	t.Elsewhere = append(t.Elsewhere, truth.Place{File: file, Lines: []int{m.Line}})
}

// accepted is the classes and the trend that may be said.
func (r *run) accepted() (classes []string, trend string) {
	if r.faulty {
		classes, trend = r.classes(r), r.trend
	} else {
		classes, trend = r.calmClasses(), "flat"
	}
	if r.innocent && r.trend != "" {
		trend = r.trend
	}
	// Killed in the first rise: whether it would have come to rest, or have gone
	// again, was not seen.
	if r.LimitKind == "killed" && (r.readings() < 3 || trend == "comes-and-goes") {
		trend = "unknown"
	}
	return classes, trend
}

func (r *run) calmClasses() []string {
	if r.calm == nil {
		return calmly(r)
	}
	return slices.Clone(r.calm(r))
}
