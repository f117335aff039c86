package faults

import (
	"flag"
	"io"
	"strings"
	"testing"
)

func TestTheFlagTakesKnownFaultsOnly(t *testing.T) {
	for _, c := range []struct{ value, want, complaint string }{
		{"", "none", ""},
		{"none", "none", ""},
		{"a", "a", ""},
		{"a,b", "a,b", ""},
		{"c", "", "choose of: a, b"},
	} {
		f := flag.NewFlagSet("x", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		s := Flag(f, "a", "b")
		err := f.Parse([]string{"-fault", c.value})
		if c.complaint != "" {
			if err == nil || !strings.Contains(err.Error(), c.complaint) {
				t.Errorf("-fault %q: error %v, want one with %q", c.value, err, c.complaint)
			}
			continue
		}
		if err != nil || s.String() != c.want {
			t.Errorf("-fault %q: %s, %v, want %s", c.value, s, err, c.want)
		}
	}
}
