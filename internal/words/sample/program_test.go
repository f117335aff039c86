package sample

import "testing"

func TestSignaturesOfAnotherToolchainAreTold(t *testing.T) {
	for _, c := range []struct {
		version, foundBy string
		want             bool
	}{
		{"go1.26.8", "", false},
		{"go1.26.8", "symbols", false},
		{"go1.26.8", "signatures of go1.26.8, 0 of 2913 votes against", false},
		{"go1.26.8", "signatures of go1.26.8 nogreenteagc, 0 of 2913 votes against", false},
		{"go1.26.3", "signatures of go1.26.8, 0 of 2913 votes against", true},
		{"go1.26", "signatures of go1.26.8, 0 of 2913 votes against", true},
	} {
		if got := (&GoProgram{Version: c.version, FoundBy: c.foundBy}).FoundByOther(); got != c.want {
			t.Errorf("%s by %q: %v", c.version, c.foundBy, got)
		}
	}
}
