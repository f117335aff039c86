package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// The README's sample is what explain prints today of the recording that make demo-leak made:
// testdata/sessions.hwm.gz, with its proof.
func TestTheAnswerInTheREADMEIsWhatExplainPrints(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, line := range strings.Split(string(readme), "\n") {
		code, ok := strings.CutPrefix(line, "    ")
		switch {
		case ok && (len(shown) > 0 || strings.HasPrefix(code, "sessions was OOM-killed")), line == "" && len(shown) > 0:
			shown = append(shown, code)
		case len(shown) > 0:
			goto read
		}
	}
read:
	want := strings.TrimRight(strings.Join(shown, "\n"), "\n") + "\n"
	sources, err := filepath.Abs("../../examples/sessions")
	if err != nil {
		t.Fatal(err)
	}
	text := hwtest.Unzipped(t, "testdata/sessions.hwm.gz")
	t.Chdir(t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if err := os.Mkdir("demo", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("demo/sessions.hwm", text, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	if code := Main([]string{"explain", "demo/sessions.hwm", "--source", sources}, strings.NewReader(""), &out, &errOut); code != 0 {
		t.Fatalf("code %d: %s", code, errOut.String())
	}
	if got := out.String(); got != want {
		t.Errorf("the README has\n%s\nexplain prints\n%s", want, got)
	}
	for _, must := range []string{"is retained by", "Proved: 3 of 3", "killed 3 of 3"} {
		if !strings.Contains(regexp.MustCompile(`\s+`).ReplaceAllString(out.String(), " "), must) {
			t.Errorf("%q is not in the answer", must)
		}
	}
}
