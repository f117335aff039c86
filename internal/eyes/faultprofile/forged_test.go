package faultprofile

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
)

// counted counts what is read of a section that may be as large as it says.
type counted struct {
	io.ReaderAt
	bytes int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

// A program's own .eh_frame is its to forge: records that lead to themselves and to one another, that are
// larger than the file, programs that never advance. Nothing of it is followed for longer than its bytes.
func TestAForgedTableOfFramesIsFollowedNoFurtherThanItsBytes(t *testing.T) {
	word := func(b []byte, at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }
	const fde = 32 // where the function's record begins, behind that which records share
	for name, forge := range map[string]func(hdr, section []byte) []byte{
		"a record that is its own shared one":  func(_, s []byte) []byte { word(s, fde+4, 0); return s },
		"a shared record behind its own":       func(_, s []byte) []byte { word(s, fde+4, ^uint32(0)-8); return s },
		"a shared record before the section":   func(_, s []byte) []byte { word(s, fde+4, 1<<30); return s },
		"a record of 4 GiB":                    func(_, s []byte) []byte { word(s, fde, ^uint32(0)-1); return s },
		"a record in the 64-bit form":          func(_, s []byte) []byte { word(s, fde, ^uint32(0)); return s },
		"a record of nothing":                  func(_, s []byte) []byte { word(s, fde, 0); return s },
		"an index that leads into itself":      func(h, s []byte) []byte { word(h, 16, 0); return s },
		"an index that leads to all addresses": func(h, s []byte) []byte { word(h, 16, 1<<31); return s },
		"an index of more entries than it has": func(h, s []byte) []byte { word(h, 8, 1<<31); return s },
		"a program of 60 KiB that goes nowhere": func(_, s []byte) []byte {
			word(s, fde, uint32(len(s)-fde-4+60<<10))
			return append(s, bytes.Repeat([]byte{0x40}, 60<<10)...) // advance by 0
		},
		"a program that remembers without end": func(_, s []byte) []byte {
			word(s, fde, uint32(len(s)-fde-4+60<<10))
			return append(s, bytes.Repeat([]byte{0x0a}, 60<<10)...)
		},
		"an expression longer than the record": func(_, s []byte) []byte {
			copy(s[fde+17:], []byte{0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			hdr, section := frames(append([]byte(nil), 0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e, 0x30, 0, 0))
			section = forge(hdr, section)
			read := &counted{ReaderAt: bytes.NewReader(section)}
			tab, err := newFrameTable(hdr, 0x3000, read, 0x2000, uint64(len(section)))
			if err != nil {
				return // refused as a whole
			}
			s := &Place{Registers: Registers{IP: 0x1010, SP: 0x7000, BP: 0x7008}, Stack: bytes.Repeat([]byte{0x10, 0x10, 0, 0, 0, 0, 0, 0}, maxStack/8)}
			got := Unwind(nil, s, oneImage{&Image{table: tab}}, 0, 0)
			if len(got) > maxUnwound+1 {
				t.Errorf("%d frames", len(got))
			}
			if most := 4 * (maxRecord + 4); read.bytes > most {
				t.Errorf("%d bytes were read, want at most %d: two records for each of two addresses", read.bytes, most)
			}
		})
	}
}

// The frame's address may be made to go back, or to stay: a stack that does not grow downwards ends there.
func TestAFrameThatDoesNotLieAboveTheLastEndsTheStack(t *testing.T) {
	for name, program := range map[string][]byte{
		"offset 0":                {0x0e, 0},
		"an offset of 2^63":       {0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
		"a negative offset":       {0x13, 0x10},
		"rbp, which is forged":    {0x0c, 6, 0},
		"a register of no number": {0x0c, 0x7f, 8},
	} {
		t.Run(name, func(t *testing.T) {
			stack := bytes.Repeat([]byte{0x10, 0x10, 0, 0, 0, 0, 0, 0}, 64)
			s := &Place{Registers: Registers{IP: 0x1010, SP: 0x7000, BP: 0x6ff8}, Stack: stack}
			if got := Unwind(nil, s, oneImage{&Image{table: table(t, program)}}, 0, 0); len(got) != 1 && name != "a register of no number" || len(got) > 2 {
				t.Errorf("frames %#x", got)
			}
		})
	}
}
