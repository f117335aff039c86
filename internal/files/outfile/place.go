package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// place is where an output goes: a path whose last element is not a symbolic link, or a
// descriptor that this process has open already.
type place struct {
	path       string
	info       fs.FileInfo // nil: nothing is there yet
	descriptor int         // of /dev/stdout, for one; -1: none
}

// mostLinks is how many symbolic links a path may go through (Linux, fs/namei.c,
// MAXSYMLINKS).
const mostLinks = 40

// Kind says what is at a path that is neither a regular file nor a directory: "a device", "a
// pipe". It is "" where there is a regular file, a directory or nothing.
func Kind(path string) string {
	p, err := resolve(path)
	switch {
	case err != nil:
		return ""
	case p.descriptor >= 0:
		return "an open file"
	case p.info == nil || p.info.Mode().IsRegular():
		return ""
	}
	return kind(p.info.Mode())
}

// missing says that there is no such directory.
type missing struct{ dir string }

func (m missing) Error() string { return "there is no directory " + m.dir }

func (m missing) Unwrap() error { return fs.ErrNotExist }

// resolve follows the links of a path, in a place where others may put some only those
// of whom they belong to.
func resolve(path string) (place, error) {
	for range mostLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) {
			return place{}, missing{filepath.Dir(path)}
		}
		if err != nil {
			return place{}, err
		}
		path = filepath.Join(dir, filepath.Base(path))
		if n, ok := descriptor(path); ok {
			return place{path: path, descriptor: n}, nil
		}
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return place{path: path, descriptor: -1}, nil
		}
		if err == nil {
			err = allowed(dir, info)
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return place{path, info, -1}, err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return place{}, err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return place{}, fmt.Errorf("more than %d symbolic links: %w", mostLinks, ErrRefused)
}

// allowed refuses directories, disks, and what a stranger put into a directory in which
// everybody may: a link leads a file of ours elsewhere, a pipe to a reader.
func allowed(dir string, info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case mode.IsDir():
		return fmt.Errorf("it is a directory, name a file in it: %w", ErrRefused)
	case kind(mode) == disk:
		return fmt.Errorf("it is a disk: %w", ErrRefused)
	case !mode.IsRegular() && planted(dir, info):
		return fmt.Errorf("it is %s of another user in a directory that everybody may write to; choose another name: %w", kind(mode), ErrRefused)
	}
	return nil
}

// disk is a device of blocks: what is written there is in a file system's place.
const disk = "a disk"

// kind is what a file is that is neither regular nor a directory.
func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0:
		return disk
	case mode.IsDir():
		return ""
	}
	return "a device"
}

// replaced reports whether a new file takes its place.
func (p place) replaced() bool {
	return p.descriptor < 0 && (p.info == nil || p.info.Mode().IsRegular())
}

// open opens what is not replaced. A pipe waits for its reader, as in a shell.
func (p place) open() (io.WriteCloser, error) {
	switch {
	case p.descriptor >= 0:
		return duplicate(p.descriptor, p.path)
	case p.info.Mode()&fs.ModeSocket != 0:
		return net.Dial("unix", p.path)
	}
	f, err := os.OpenFile(p.path, os.O_WRONLY|noTerminal, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(info, p.info) {
		err = fmt.Errorf("it was exchanged meanwhile: %w", ErrRefused)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
