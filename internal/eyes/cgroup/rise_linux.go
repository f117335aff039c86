package cgroup

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// OnRise has tell called, on another goroutine, whenever the charge passes an amount, in
// either direction, and when the cgroup is removed. The error is errors.ErrUnsupported where
// the kernel does not tell. The caller closes the Rise.
func (c *Cgroup) OnRise(at sample.Bytes, tell func()) (*Rise, error) {
	if c.h.Version != 1 || c.files.usage == noFD {
		return nil, errors.ErrUnsupported
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("be told of the charge of %s: %w", c.Path, err)
	}
	told := os.NewFile(uintptr(fd), "eventfd")
	wish := fmt.Sprintf("%d %d %d", fd, int(c.files.usage), at)
	if err := writeOnce(c.Dir+"/cgroup.event_control", wish); err != nil {
		_ = told.Close() // nothing was written
		return nil, fmt.Errorf("be told of the charge of %s: %w", c.Path, errors.Join(errors.ErrUnsupported, err))
	}
	go func() {
		var times [8]byte
		for {
			if _, err := told.Read(times[:]); err != nil {
				return // it was closed
			}
			tell()
		}
	}()
	return &Rise{At: at, stop: func() { _ = told.Close() }}, nil
}

// writeOnce writes by one call, as the kernel's files want it.
func writeOnce(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
