package faultprofile

import "testing"

func FuzzSample(f *testing.F) {
	f.Add(make([]byte, 600))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Sample
		if s.decode(b) && (len(s.PCs) > maxFrames || len(s.Stack) > len(b)) {
			t.Errorf("%d frames, %d bytes of stack", len(s.PCs), len(s.Stack))
		}
	})
}
