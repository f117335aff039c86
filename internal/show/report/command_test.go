package report

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/visible"
)

// What a shell reads must not depend on where the line was broken.
func TestABrokenCommandHasTheSameWords(t *testing.T) {
	for _, words := range [][]string{
		{"highwater", "run", "--load", "it's a b c d", "--", "x", "y z"},
		{"a", "'", "b c", "''", "d e f"},
		{"a b\nc d", "e", "f g"},
	} {
		p := page{width: 12}
		p.command("  ", visible.Shell(append([]string{"printf", `%s\0`}, words...)...), 20)
		if len(p.lines) < 2 {
			t.Errorf("it is not broken: %q", p.lines)
		}
		out, err := exec.Command("bash", "-c", strings.Join(p.lines, "\n")).Output()
		if got := strings.TrimSuffix(string(out), "\x00"); err != nil || got != strings.Join(words, "\x00") {
			t.Errorf("%q: %q, %v", p.lines, got, err)
		}
	}
}

func TestALineOfAPageIsOneLineThatCommandsNothing(t *testing.T) {
	for _, color := range []bool{false, true} {
		for _, line := range paint([]string{"x was OOM-killed \x1b[31m", "MEMORY\nKILL \u202e\x9b"}, Options{Color: color}, nil) {
			for _, ours := range []string{bold, red, off} {
				line = strings.ReplaceAll(line, ours, "")
			}
			if visible.Text(line) != line {
				t.Errorf("colour %v: %q", color, line)
			}
		}
	}
}

func TestAFlagStaysWithItsValue(t *testing.T) {
	got := strings.Join(shellLines("prog -rate 5242880 -unit 32768 -for 0s -v -- x", 18), "|")
	if want := "prog -rate 5242880|-unit 32768|-for 0s -v -- x"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
