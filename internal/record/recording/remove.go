package recording

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// ErrInUse says that a recording is being written.
var ErrInUse = errors.New("it is being written")

// beginning is how long a recording may be without its WAL and without checksums while
// it is created.
const beginning = 10 * time.Second

// Remove removes the recording of that name in a directory, and what SQLite keeps beside
// it. What is not a regular file with a recording's header stays, and a recording that
// is being written: the error is ErrNotRecording or ErrInUse then.
func Remove(dir *os.Root, name string) error {
	release, err := claim(dir, name)
	if err != nil {
		return err
	}
	defer release()
	if err := dir.Remove(name); err != nil {
		return err
	}
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		if info, err := dir.Lstat(name + end); err == nil && info.Mode().IsRegular() {
			_ = dir.Remove(name + end) // without its recording it is nothing
		}
	}
	return nil
}

// MayRemove is why Remove would refuse; nil: it would not.
func MayRemove(dir *os.Root, name string) error {
	release, err := claim(dir, name)
	if err != nil {
		return err
	}
	release()
	return nil
}

// claim makes sure that name is a recording that nobody writes, and that nobody does
// until release.
func claim(dir *os.Root, name string) (release func(), err error) {
	f, err := openRegular(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = readHeader(f)
	var cut ErrCut
	if short := errors.As(err, &cut) && cut.Want > 0; err != nil && !short { // less than a header may be anything
		return nil, fmt.Errorf("%s: %w", name, ErrNotRecording)
	}
	wal, err := openRegular(dir, name+"-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return func() {}, claimFinished(f, name)
	case err != nil:
		return nil, err
	}
	if !tryLock(wal) {
		wal.Close()
		return nil, fmt.Errorf("%s: %w", name, ErrInUse)
	}
	return func() { wal.Close() }, nil
}

// claimFinished refuses a recording that has just been begun, and has no WAL yet.
func claimFinished(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if s, _ := readSums(f, info.Size()); s == nil && time.Since(info.ModTime()) < beginning {
		return fmt.Errorf("%s: %w", name, ErrInUse)
	}
	return nil
}

// openRegular opens a regular file of a directory, and no link to one.
func openRegular(dir *os.Root, name string) (*os.File, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: %w", name, ErrNotRecording)
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		f.Close()
		return nil, fmt.Errorf("%s was replaced meanwhile: %w", name, ErrNotRecording)
	}
	return f, nil
}
