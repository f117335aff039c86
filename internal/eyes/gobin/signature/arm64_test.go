package signature

import (
	"encoding/binary"
	"testing"
)

func arm64Code(words ...uint32) (code []byte) {
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}

func TestDataOfArm64IsNamedByTwoInstructions(t *testing.T) {
	code := arm64Code(
		0xb000001b, // ADRP X27, +1 page
		0xf9400b60, // LDR X0, [X27, #16]
		0x90ffffe1, // ADRP X1, -4 pages
		0x9100c021, // ADD X1, X1, #48
		0xb000001b, // ADRP X27, +1 page
		0xd503201f, // NOP
		0x39401360, // LDRB W0, [X27, #4]
		0xf9400c00, // LDR X0, [X0, #24]: no page before it
		0x3d80037b, // STR Q27, [X27]
		0x94000010, // BL
		0xd65f03c0, // RET
		0,          // padding
	)
	b, ok := ReadBody("arm64", nil, code, 0x20ffc)
	want := []uint64{0x21010, 0x1d030, 0x22004}
	if !ok || len(b.Refs) != len(want) {
		t.Fatalf("got %x, %v", b.Refs, ok)
	}
	for i, r := range b.Refs {
		if r.Target != want[i] {
			t.Errorf("reference %d is %#x, want %#x", i, r.Target, want[i])
		}
	}
	moved := append([]byte(nil), code...)
	moved[0], moved[4+1], moved[9*4] = 0x3b, 0x0f, 0x77 // page, offset, branch
	if m, _ := ReadBody("arm64", nil, moved, 0x20ffc); m.Hash != b.Hash || m.Refs[0].Text != b.Refs[0].Text || m.Refs[0].Target == b.Refs[0].Target {
		t.Errorf("moved: %x, %x", m, b)
	}
}

func TestTheProfilingSwitchOfArm64(t *testing.T) {
	code := arm64Code(
		0xb000001b, // ADRP X27
		0x39400760, // LDRB W0, [X27, #1]
		0x34000060, // CBZ W0
		0xb000003b, // ADRP X27
		0xf900077f, // STR XZR, [X27, #8]
	)
	flag, rate, ok := ProfilingSwitch("arm64", Code{code, 0x10000})
	if !ok || flag != 0x11001 || rate != 0x15008 {
		t.Errorf("got %#x, %#x, %v", flag, rate, ok)
	}
	if _, _, ok := ProfilingSwitch("arm64", Code{append(code, code...), 0x10000}); ok {
		t.Error("two are taken for one")
	}
	if _, _, ok := ProfilingSwitch("riscv64", Code{code, 0x10000}); ok {
		t.Error("an architecture that is not known")
	}
}
