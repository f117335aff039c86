package faultprofile

import (
	"encoding/hex"
	"errors"
	"testing"
)

func TestTheOffsetOfGIsReadInEveryFormThatLinkersLeave(t *testing.T) {
	slot := func(addr uint64) (uint64, error) {
		if addr != 0x1000+7+0x100 {
			return 0, errors.New("another slot")
		}
		return ^uint64(87), nil // -88
	}
	for name, c := range map[string]struct {
		code string
		want int64
	}{
		"the offset itself":      {"488b44240864488b3c25f8ffffff", -8},
		"in the loader's slot":   {"488b0d0001000064488b39", -88},
		"rewritten by ld":        {"48c7c1a8ffffff64488b39", -88},
		"with an offset of both": {"48c7c1f0ffffff64488b7908", -8},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := TLSOffset(code, 0x1000, slot); err != nil || got != c.want {
			t.Errorf("%s: %d, %v; want %d", name, got, err, c.want)
		}
	}
}

func TestCodeThatDoesNotShowTheOffsetIsRefused(t *testing.T) {
	for _, code := range []string{"", "c3", "64488b39", "488b0500000000", "48c7c1f8ffffff31c964488b39", "48c7c10000007f64488b39"} {
		b, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		if off, err := TLSOffset(b, 0, func(uint64) (uint64, error) { return 0, nil }); err == nil {
			t.Errorf("%s gave %d", code, off)
		}
	}
}

func FuzzTLSOffset(f *testing.F) {
	f.Add([]byte{0x64, 0x48, 0x8b, 0x3c, 0x25, 0xf8, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, code []byte) {
		off, err := TLSOffset(code, 0x400000, func(addr uint64) (uint64, error) { return addr, nil })
		if err == nil && (off < -1<<24 || off > 1<<24) {
			t.Errorf("an offset of %d", off)
		}
	})
}
