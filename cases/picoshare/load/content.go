package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// content is bytes that follow from a seed and a place alone, so that any range
// of a large file can be checked without keeping the file.
type content struct {
	seed uint64
	size int64
}

func (c content) reader() io.Reader { return io.NewSectionReader(c, 0, c.size) }

// ReadAt implements io.ReaderAt.
func (c content) ReadAt(p []byte, off int64) (int, error) {
	if off >= c.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), c.size-off))
	var word [8]byte
	for done := 0; done < n; {
		at := off + int64(done)
		binary.LittleEndian.PutUint64(word[:], splitmix(c.seed<<40+uint64(at/8)))
		done += copy(p[done:n], word[at%8:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// same reads r and holds it against n bytes from an offset.
func (c content) same(r io.Reader, from, n int64) error {
	got, want := make([]byte, 256<<10), make([]byte, 256<<10)
	for done := int64(0); ; {
		k, err := io.ReadFull(r, got)
		c.ReadAt(want[:k], from+done)
		if !bytes.Equal(got[:k], want[:k]) {
			return fmt.Errorf("other bytes than were sent, between %d and %d", from+done, from+done+int64(k))
		}
		done += int64(k)
		if err == nil {
			continue
		}
		if done != n || err != io.EOF && err != io.ErrUnexpectedEOF {
			return fmt.Errorf("%d of %d bytes came: %w", done, n, err)
		}
		return nil
	}
}

// splitmix is SplitMix64's mixing function: neighbours share nothing.
func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
