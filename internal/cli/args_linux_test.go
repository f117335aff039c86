package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// secretForms are those of internal/eyes/procfs: words between tabs, one form a line.
func secretForms(t *testing.T) (words []string) {
	t.Helper()
	text, err := os.ReadFile("../eyes/procfs/testdata/secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if !strings.HasPrefix(line, "#") {
			words = append(words, strings.Split(strings.ReplaceAll(line, `\n`, "\n"), "\t")...)
		}
	}
	return words
}

func TestNoSecretOfACommandLineIsInARecordingOrItsPage(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	forms := secretForms(t)
	quoted, err := os.ReadFile("../eyes/procfs/testdata/shell-secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{nil, {"--keep-args"}} {
		t.Run(strings.Join(append(flags, "secrets"), " "), func(t *testing.T) {
			dir := t.TempDir()
			path, page := filepath.Join(dir, "r.hwm"), filepath.Join(dir, "page.html")
			args := append([]string{"run", "-q", "-o", path, "--load", explain.Shell(append([]string{"true"}, forms...)...) + "\nif false; then\n" + string(quoted) +
				"fi"}, flags...)
			args = append(append(args, "--", testprog(t, "ticker"), "-for", "1s", "--"), forms...)
			cmd := exec.Command(highwater(t), args...)
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
			said, err := cmd.CombinedOutput()
			text, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatalf("%v: %v: %s", readErr, err, said)
			}
			secret := []string{"S3cret"}
			tells(t, "the file", text, secret)
			tells(t, "what is read of it", everythingOf(t, path), secret)
			if out, err := exec.Command(highwater(t), "open", path, "--html", page).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if text, err = os.ReadFile(page); err != nil {
				t.Fatal(err)
			}
			tells(t, "the page", text, secret)
		})
	}
}

// everythingOf is what a reader makes of a recording, unpacked: its texts may lie on
// several pages of the file.
func everythingOf(t *testing.T, path string) []byte {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []any
	keep := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	m, err := r.Meta()
	keep(m, err)
	programs, err := r.Programs()
	keep(programs, err)
	events, err := r.Events()
	keep(events, err)
	gaps, err := r.Gaps()
	keep(gaps, err)
	moments, err := r.Moments()
	keep(len(moments), err)
	for _, info := range moments {
		m, err := r.Moment(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Processes {
			m.Processes[i].Metrics = nil // figures: some are infinite, which JSON has no word for
		}
		keep(m, nil)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
