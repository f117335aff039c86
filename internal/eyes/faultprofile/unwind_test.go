package faultprofile

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// frames builds an .eh_frame at 0x2000 of one function, [0x1000, 0x1040), and its index at
// 0x3000. The function pushes rbp and has a frame of 0x20 bytes from its fifth byte on.
func frames(program []byte) (hdr, section []byte) {
	cie := []byte{0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1}
	cie = append(cie, make([]byte, -len(cie)&7+4)...)
	section = append(binary.LittleEndian.AppendUint32(nil, uint32(len(cie))), cie...)
	at := len(section)
	fde := binary.LittleEndian.AppendUint32(nil, uint32(at+4))
	fde = binary.LittleEndian.AppendUint32(fde, uint32(int32(0x1000-(0x2000+at+8))))
	fde = binary.LittleEndian.AppendUint32(fde, 0x40)
	fde = append(append(fde, 0), program...)
	section = append(binary.LittleEndian.AppendUint32(section, uint32(len(fde))), fde...)
	hdr = []byte{1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 1, 0, 0, 0}
	hdr = binary.LittleEndian.AppendUint32(hdr, uint32(0x1000-0x3000+1<<32))
	return binary.LittleEndian.AppendUint32(hdr, uint32(0x2000+at-0x3000+1<<32)), section
}

// pushes says that after one byte rbp is saved and the CFA is rsp+16; after four more rsp+0x30.
var pushes = []byte{0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e, 0x30}

func table(t testing.TB, program []byte) *frameTable {
	hdr, section := frames(program)
	got, err := newFrameTable(hdr, 0x3000, bytes.NewReader(section), 0x2000, uint64(len(section)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestARowIsThatOfItsInstruction(t *testing.T) {
	tab := table(t, pushes)
	for pc, want := range map[uint64]int64{0x1000: 8, 0x1001: 16, 0x1004: 16, 0x1005: 0x30, 0x103f: 0x30} {
		if r, ok := tab.row(pc); !ok || r.base != dwRSP || r.offset != want {
			t.Errorf("%#x: register %d and %d, %v; want rsp and %d", pc, r.base, r.offset, ok, want)
		}
	}
	for _, pc := range []uint64{0, 0xfff, 0x1040, 1 << 63} {
		if r, ok := tab.row(pc); ok {
			t.Errorf("%#x has a row: %+v", pc, r)
		}
	}
}

type oneImage struct{ m *Image }

func (o oneImage) Image(pc uint64) (*Image, uint64) {
	if pc >= 0x1000 && pc < 0x1040 {
		return o.m, 0
	}
	return nil, 0
}

func TestFramesAreFoundUntilGoCodeAndRegistersAreThoseOfTheCaller(t *testing.T) {
	stack := make([]byte, 0x70)
	binary.LittleEndian.PutUint64(stack[0x28:], 0x1020)   // called from within itself
	binary.LittleEndian.PutUint64(stack[0x58:], 0x500010) // by Go
	s := &Place{Registers: Registers{IP: 0x1010, SP: 0x7000}, Stack: stack}
	got := Unwind(nil, s, oneImage{&Image{table: table(t, pushes)}}, 0x500000, 0x600000)
	if len(got) != 2 || got[0] != 0x1010 || got[1] != 0x1020 {
		t.Errorf("frames %#x", got)
	}
}

func TestAStackThatLeadsInCirclesEnds(t *testing.T) {
	stack := make([]byte, 4<<10)
	for i := 0; i < len(stack); i += 8 {
		binary.LittleEndian.PutUint64(stack[i:], 0x1001)
	}
	s := &Place{Registers: Registers{IP: 0x1001, SP: 0x7000}, Stack: stack}
	if got := Unwind(nil, s, oneImage{&Image{table: table(t, pushes)}}, 1<<40, 1<<41); len(got) > maxUnwound+1 {
		t.Errorf("%d frames", len(got))
	}
}

func FuzzFrames(f *testing.F) {
	hdr, section := frames(pushes)
	f.Add(hdr, section, uint64(0x1010), []byte("a stack"))
	_, section = frames([]byte{0x0a, 0x0b, 0x0f, 1, 0x50, 0x10, 3, 1, 0, 0x12, 7, 0x7f, 0xc6})
	f.Add(hdr, section, uint64(0x1010), make([]byte, 64))
	f.Fuzz(func(t *testing.T, hdr, section []byte, pc uint64, stack []byte) {
		tab, err := newFrameTable(hdr, 0x3000, bytes.NewReader(section), 0x2000, uint64(len(section)))
		if err != nil {
			return
		}
		s := &Place{Registers: Registers{IP: pc, SP: 0x7000, BP: 0x7008}, Stack: stack}
		if got := Unwind(nil, s, oneImage{&Image{table: tab}}, 0, 0); len(got) > maxUnwound+1 {
			t.Errorf("%d frames", len(got))
		}
	})
}
