package faultprofile

import "testing"

// BenchmarkLoad is what every watch pays once, before it begins.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		p, err := New(0)
		if err != nil {
			b.Skip(err)
		}
		p.Close()
	}
}
