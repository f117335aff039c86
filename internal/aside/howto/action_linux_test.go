package howto

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// acted is what the action's script left behind.
type acted struct {
	code                  int
	said, summary, output string
	dir                   string
}

func act(t *testing.T, bin string, inputs ...string) (a acted) {
	t.Helper()
	dir := t.TempDir()
	a.dir = filepath.Join(dir, "kept")
	summary, output := filepath.Join(dir, "summary"), filepath.Join(dir, "output")
	cmd := exec.Command("../../../action/run.sh")
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "GITHUB_STEP_SUMMARY="+summary, "GITHUB_OUTPUT="+output, "HW_DIR="+a.dir)
	cmd.Env = append(cmd.Env, inputs...)
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	a.code, a.said = cmd.ProcessState.ExitCode(), string(said)
	for path, to := range map[string]*string{summary: &a.summary, output: &a.output} {
		b, _ := os.ReadFile(path) // it may not have come that far
		*to = string(b)
	}
	return a
}

func TestTheActionsScriptComparesWithABudgetAndKeepsThePage(t *testing.T) {
	hwtest.Need(t, hwtest.Program("bash"))
	bin := t.TempDir()
	for name, path := range map[string]string{"highwater": hwtest.Build(t, "../../../cmd/highwater", hwtest.BuildOptions{}),
		"steady": hwtest.Build(t, "../testprog/steady", hwtest.BuildOptions{}), "crash": hwtest.Build(t, "../testprog/crash", hwtest.BuildOptions{})} {
		copyProgram(t, path, filepath.Join(bin, name))
	}
	const command = "HW_COMMAND=steady -live 32MiB -for 2s"
	for name, c := range map[string]struct {
		inputs        []string
		code          int
		summary, said string
		page          bool
	}{
		"within the budget":     {[]string{command, "HW_EXPECT=400MiB"}, 0, "exited normally", "", true},
		"over it":               {[]string{command, "HW_EXPECT=8MiB"}, 3, "**Over the budget of `8MiB`.**", "::error title=Memory::over the budget of 8MiB", true},
		"no page":               {[]string{command, "HW_PAGE=none"}, 0, "exited normally", "", false},
		"a command that fails":  {[]string{"HW_COMMAND=crash -live 8MiB -how abort"}, 134, "crashed with SIGABRT", "", true},
		"a budget that is none": {[]string{command, "HW_EXPECT=many"}, 2, "", "", true},
		"a page that is none":   {[]string{command, "HW_PAGE=all"}, 2, "exited normally", "page is redacted, full or none", false},
		"no command":            {nil, 1, "", "no command", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := act(t, bin, c.inputs...)
			if a.code != c.code || !strings.Contains(a.summary, c.summary) || !strings.Contains(a.said, c.said) {
				t.Errorf("code %d, want %d\n%s\nsummary:\n%s", a.code, c.code, a.said, a.summary)
			}
			page, err := os.ReadFile(filepath.Join(a.dir, "memory.html"))
			if (err == nil) != c.page {
				t.Errorf("the page: %v", err)
			}
			if c.page && strings.Contains(string(page), bin) {
				t.Errorf("the page names %s", bin)
			}
			if c.inputs != nil && !regexp.MustCompile(`(?m)^outcome=\S.*\nverdict=[a-z-]+\nrecording=.*/run.hwm$`).MatchString(a.output) {
				t.Errorf("outputs:\n%s", a.output)
			}
		})
	}
}

// An input that the script does not get would be without effect, and nobody would be told.
func TestEveryInputOfTheActionIsUsed(t *testing.T) {
	b, err := os.ReadFile("../../../action/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../../action/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	declared, used, _ := strings.Cut(string(b), "\nruns:")
	inputs, _, _ := strings.Cut(declared[strings.Index(declared, "\ninputs:"):], "\noutputs:")
	names := regexp.MustCompile(`(?m)^  ([a-z]+):$`).FindAllStringSubmatch(inputs, -1)
	if len(names) < 9 {
		t.Fatalf("inputs %v", names)
	}
	for _, name := range names {
		if !strings.Contains(used, "inputs."+name[1]+" }}") {
			t.Errorf("input %s is not used", name[1])
		}
	}
	for _, m := range regexp.MustCompile(`HW_[A-Z]+`).FindAllString(used, -1) {
		if !strings.Contains(string(script), m) {
			t.Errorf("the script does not know %s", m)
		}
	}
}
