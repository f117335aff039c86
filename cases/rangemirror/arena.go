package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
)

// What the arena of the article's program holds, whatever the ranges need:
// room for variation, and for surprises yet to come.
const (
	reservedRange   = 48 << 10
	reservedArchive = 160_000_000
)

// The archive of one prefix varies by much less than the ranges in it: the sum
// of 4,096 sizes that spread over 4 KiB spreads over a tenth of a percent.
const archiveHeadroom = 1 << 20

// maxRange is the largest answer that is believed to be a range.
const maxRange = 1 << 20

// arena holds one prefix: an answer for each of its ranges, and the archive
// made of them. It is filled and emptied for prefix after prefix, and lives as
// long as the program.
type arena struct {
	ranges  []bytes.Buffer
	archive bytes.Buffer
}

// newArena makes an arena for n ranges. It is empty and grows to what the first
// prefix needs, unless it is asked to reserve.
func newArena(n int, reserve bool) *arena {
	a := &arena{ranges: make([]bytes.Buffer, n)}
	if !reserve {
		return a
	}
	for i := range a.ranges {
		a.ranges[i] = *bytes.NewBuffer(make([]byte, 0, reservedRange)) // fault: reserved; also: defaults
	}
	a.archive = *bytes.NewBuffer(make([]byte, 0, reservedArchive)) // also: defaults; also: reserved
	return a
}

// fill puts the body of an answer in place i. size is what the answer says of
// itself, or -1; a body that is longer than maxRange is an error.
func (a *arena) fill(i int, body io.Reader, size int64) error {
	b := &a.ranges[i]
	b.Reset()
	if size > maxRange {
		return fmt.Errorf("%d bytes are too many for a range", size)
	}
	// bytes.Buffer.ReadFrom wants MinRead bytes free to see the end, and Go gives
	// whole pages beyond 32 KiB: what lies between is room for the next prefix.
	if need := roundUp(int(size)+bytes.MinRead, 8<<10); b.Cap() < need {
		*b = *bytes.NewBuffer(make([]byte, 0, need))
	}
	n, err := b.ReadFrom(io.LimitReader(body, maxRange+1))
	if err != nil {
		return err
	}
	if n > maxRange {
		return fmt.Errorf("more than %d bytes are too many for a range", maxRange)
	}
	return nil
}

// pack makes the archive of what the arena holds; name gives the name of place
// i. The bytes are valid until the next pack.
func (a *arena) pack(name func(i int) string) ([]byte, error) {
	a.archive.Reset()
	if need := a.archiveSize(); a.archive.Cap() < need {
		a.archive = *bytes.NewBuffer(make([]byte, 0, need+archiveHeadroom))
	}
	w := tar.NewWriter(&a.archive)
	for i := range a.ranges {
		content := a.ranges[i].Bytes()
		header := &tar.Header{Name: name(i), Mode: 0o644, Size: int64(len(content))}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return a.archive.Bytes(), nil
}

// archiveSize is what pack will write: a tar has a block of 512 bytes before
// each file, files in whole blocks, and two empty blocks at its end.
func (a *arena) archiveSize() int {
	const block = 512
	size := 2 * block
	for i := range a.ranges {
		size += block + roundUp(a.ranges[i].Len(), block)
	}
	return size
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
