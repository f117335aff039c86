package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestAnyRangeOfAContentIsThatOfTheWhole(t *testing.T) {
	c := content{seed: 7, size: 1003}
	whole, err := io.ReadAll(c.reader())
	if err != nil || len(whole) != 1003 {
		t.Fatalf("%d bytes, %v", len(whole), err)
	}
	for _, at := range []struct{ from, n int64 }{{0, 1003}, {0, 1}, {3, 9}, {8, 8}, {1002, 1}, {500, 0}} {
		if err := c.same(bytes.NewReader(whole[at.from:at.from+at.n]), at.from, at.n); err != nil {
			t.Errorf("%d bytes from %d: %v", at.n, at.from, err)
		}
	}
}

func TestOtherContentIsToldFromOurs(t *testing.T) {
	c := content{seed: 7, size: 1003}
	whole, _ := io.ReadAll(c.reader())
	for name, got := range map[string]string{
		"cut":      string(whole[:1002]),
		"too long": string(whole) + "x",
		"changed":  string(whole[:600]) + string([]byte{^whole[600]}) + string(whole[601:]),
		"nothing":  "",
	} {
		if err := c.same(strings.NewReader(got), 0, c.size); err == nil {
			t.Errorf("%s: taken for the same", name)
		}
	}
}
