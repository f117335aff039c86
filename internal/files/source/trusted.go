package source

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// machines are directories of no file that anybody wrote: to open one of theirs may
// take something away, and to read it may never end.
var machines = []string{"/proc", "/sys", "/dev"}

// read reads a file that its reader trusts: Go source by its name, regular, of bounded
// size, and
//
//   - below a directory that the reader named, GOROOT or the module cache, or
//   - of an owner who could show it to the reader anyway, see foreign.
//
// What a link leads to counts, not the link. The file is opened without waiting, and
// what was opened is looked at: another may be there by then.
func (c candidate) read() (*file, error) {
	if c.refuse != nil {
		return nil, c.refuse
	}
	at, err := filepath.EvalSymlinks(c.path)
	if err != nil {
		return nil, err
	}
	if err := nameAllowed(at); err != nil {
		return nil, err
	}
	f, err := open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = c.allowed(at, info)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = tooLarge()
	}
	if err != nil {
		return nil, err
	}
	return &file{path: c.path, lines: strings.Split(string(text), "\n"), modified: info.ModTime()}, nil
}

// nameAllowed is for Go source, and not for what only looks like a file.
func nameAllowed(path string) error {
	if filepath.Ext(path) != ".go" {
		return fmt.Errorf("it has no name of Go source: %w", ErrNotTrusted)
	}
	if slices.ContainsFunc(machines, func(dir string) bool { return below(dir, path) }) {
		return fmt.Errorf("it is a file of the system: %w", ErrNotTrusted)
	}
	return nil
}

// allowed looks at an open file.
func (c candidate) allowed(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("it is not a regular file: %w", ErrNotTrusted)
	case info.Size() > maxFile:
		return tooLarge()
	case c.trusts(path):
		return nil
	}
	return foreign(info)
}

func tooLarge() error { return fmt.Errorf("it has more than %d MiB: %w", maxFile>>20, ErrNotTrusted) }

// trusts reports whether the file is below the directory that the reader trusts, also after all links of both.
func (c candidate) trusts(path string) bool {
	if c.root == "" {
		return false
	}
	root, err := filepath.EvalSymlinks(c.root)
	return err == nil && below(root, path)
}

// below reports whether a path is in a directory.
func below(dir, path string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rest)
}

// errForeign is why a file outside of the trusted directories is not read.
func errForeign(why string) error {
	return fmt.Errorf("%s; --source DIR trusts what is below it: %w", why, ErrNotTrusted)
}
