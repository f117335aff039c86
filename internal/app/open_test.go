package app

import (
	"strings"
	"testing"
)

func TestNoTextEndsItsFence(t *testing.T) {
	for _, text := range []string{"plain", "x\n```\n# [click](http://evil)", "````", "a ``````` b"} {
		lines := strings.Split(fenced(text), "\n")
		fence := lines[0]
		if strings.Trim(fence, "`") != "" || len(fence) < 3 || strings.Contains(text, fence) || lines[len(lines)-2] != fence {
			t.Errorf("%q", lines)
		}
	}
}
