// Package outfile writes the files that a user asks for: exports, pages, logs and
// notes. A regular file appears complete or not at all, and for its owner alone; a
// device, a pipe or a terminal is written to and never replaced. It does not write
// recordings, which are databases, and knows no format.
package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Private is the mode of what Highwater writes: it says what a program held.
const Private fs.FileMode = 0o600

// ErrRefused says that something is in the place of a file that no output goes to.
var ErrRefused = errors.New("no output is written there")

// Write writes a file with the mode Private.
func Write(path string, write func(io.Writer) error) error { return WriteMode(path, Private, write) }

// WriteMode writes a file. One that is new, or regular, is made under a random name in
// its directory, brought to the disk and renamed: until then what was there stays. A
// symbolic link leads to what is written and stays itself. Anything else, /dev/null for
// one, is opened and written to. What write says is returned as it is.
func WriteMode(path string, mode fs.FileMode, write func(io.Writer) error) error {
	p, err := resolve(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if p.replaced() {
		return replace(path, p.path, mode, write)
	}
	to, err := p.open()
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return errors.Join(buffered(to, write), to.Close())
}

// partial is how the name of a file begins and ends that is being written.
const partialBegins, partialEnds = ".highwater-", ".partial"

// Partial says that a name is of a file that was being written: where nobody writes, by
// somebody who did not live to remove it.
func Partial(name string) bool {
	return strings.HasPrefix(name, partialBegins) && strings.HasSuffix(name, partialEnds)
}

// New makes a file that grows while it is written, a log: with the mode Private, and
// only where nothing is, not even a link to nothing.
func New(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, Private)
}

// replace makes a new file in its place; asked is what it is called in errors.
func replace(asked, path string, mode fs.FileMode, write func(io.Writer) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, partialBegins+"*"+partialEnds) // O_EXCL, 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", asked, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := buffered(f, write); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", asked, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", asked, err)
	}
	syncDir(dir)
	return nil
}

// syncDir brings a directory's entries to the disk, where that can be had: the file
// itself is there already.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // not every file system knows it
		_ = d.Close()
	}
}

func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriter(w)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}
