//go:build !linux

package gobin

import (
	"io"
	"os"
)

// mapOpen reads the file: elsewhere than on Linux binaries are looked at only
// now and then, and memory does not matter.
func mapOpen(f *os.File, size int) (*mapping, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	return &mapping{data: data}, nil
}

func unmap([]byte) error { return nil }

func (m *mapping) release([]byte) {}
