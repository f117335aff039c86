// Package source finds the text behind a function of a Go program on this machine:
// where it was built, in the module cache, in GOROOT, or in a directory that the
// user names. It says where a file is not that of the program rather than show a
// line that the program never ran. It changes nothing and downloads nothing.
//
// The names of files come from the program, or from a recording that anybody may have
// made: which file is read is not theirs to choose. See candidate.read.
package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrNotFound says that no file of that name is on this machine.
var ErrNotFound = errors.New("not on this machine")

// ErrNotTrusted says that a file is there and is not read.
var ErrNotTrusted = errors.New("not read")

// ErrDiffers says that a file is there and is not the program's.
var ErrDiffers = errors.New("not the source of this program")

// Places are the directories to look in; empty ones are passed over.
type Places struct {
	Dir       string // what the user named: the main module's root, or above it
	GOROOT    string // its VERSION file says which Go it is
	ModCache  string // GOMODCACHE
	Module    string // path of the program's main module
	GoVersion string // of the program, "go1.26.8"
}

// Finder finds and keeps files. The zero Finder finds files where they were
// built. It must not be used by two goroutines at once.
type Finder struct {
	Places
	files map[string]*file // by the name that the compiler recorded
}

// file is one source file, or why there is none.
type file struct {
	path     string
	lines    []string
	modified time.Time
	shown    bool // lines of it were given
	err      error
}

// maxFile caps what is read for one file: the largest of the standard library,
// which is generated, has 5 MB.
const maxFile = 16 << 20

// Func is lines of a function: Lines[0] is line First of the file at Path, which
// was last changed at Modified.
type Func struct {
	Path     string
	First    int
	Lines    []string
	Modified time.Time
}

// Line is the text of one line of a function, without the spaces around it. The
// function's name is the linker's, and its declaration must be around the line.
func (f *Finder) Line(function, name string, line int) (string, error) {
	src := f.open(name)
	if src.err != nil {
		return "", src.err
	}
	if line < 1 || line > len(src.lines) {
		return "", fmt.Errorf("%s has %d lines: %w", src.path, len(src.lines), ErrDiffers)
	}
	if !src.declares(function, line) {
		return "", fmt.Errorf("%s: line %d is not in %s: %w", src.path, line, called(function), ErrDiffers)
	}
	src.shown = true
	return strings.TrimSpace(src.lines[line-1]), nil
}

// Func is the text from the line on which a function begins to the end of the
// declaration, and at least to the line last, which is of it, too. The line start
// is as the compiler recorded it; of a closure, that of its func.
func (f *Finder) Func(function, name string, start, last int) (*Func, error) {
	src := f.open(name)
	if src.err != nil {
		return nil, src.err
	}
	last = max(start, last)
	switch {
	case start < 1 || last > len(src.lines):
		return nil, fmt.Errorf("%s has %d lines, the program's had at least %d: %w", src.path, len(src.lines), last, ErrDiffers)
	case !strings.Contains(src.lines[start-1], "func") || !src.declares(function, start):
		return nil, fmt.Errorf("%s: %s does not begin at line %d: %w", src.path, called(function), start, ErrDiffers)
	case !src.declares(function, last):
		return nil, fmt.Errorf("%s: line %d is not in %s: %w", src.path, last, called(function), ErrDiffers)
	}
	src.shown = true
	end := max(last, src.end(start))
	return &Func{src.path, start, src.lines[start-1 : end], src.modified}, nil
}

// Shown are the files of which lines were given, in order.
func (f *Finder) Shown() []string {
	var paths []string
	for _, src := range f.files {
		if src.shown {
			paths = append(paths, src.path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// open reads a file once.
func (f *Finder) open(name string) *file {
	if known := f.files[name]; known != nil {
		return known
	}
	if f.files == nil {
		f.files = map[string]*file{}
	}
	src := f.find(name)
	f.files[name] = src
	return src
}

// find is the first place that has the file.
func (f *Finder) find(name string) *file {
	if name == "" {
		return &file{err: ErrNotFound}
	}
	var refused error
	for _, c := range f.candidates(filepath.ToSlash(name)) {
		if info, err := os.Stat(c.path); err != nil || info.IsDir() {
			continue
		}
		src, err := c.read()
		if err != nil {
			refused = fmt.Errorf("%s: %w", c.path, err)
			continue
		}
		return src
	}
	if refused != nil {
		return &file{err: refused}
	}
	return &file{err: fmt.Errorf("%s: %w", name, ErrNotFound)}
}
