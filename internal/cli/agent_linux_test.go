package cli_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// node runs programs in a namespace of their own, which an agent watches: it must not see
// those of other tests.
const node = `
"$HW" agent --store "file://$DIR/store" --spool "$DIR/spool" --recordings "$DIR/recordings" --tenant test --node node-7 &
agent=$!
read found
(echo 0 > "$GROUP/cgroup.procs"
HIGHWATER_HEAP_PROFILE=1 OTEL_SERVICE_NAME=checkout OTEL_RESOURCE_ATTRIBUTES=service.version=v1.42.0 SECRET=of-the-service exec "$LEAK" -rate 4MiB) >/dev/null
HIGHWATER=off "$LEAK" -rate 1MiB -max 1MiB -for 1s >/dev/null
read told
kill -TERM $agent
wait $agent`

func TestAnAgentMakesAKillAnIncident(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace, hwtest.Program("unshare"))
	dir, group := t.TempDir(), hwtest.Limit(t, 48*sample.MiB)
	tool := highwater(t)
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", node)
	cmd.Env = append(cmd.Environ(), "HW="+tool, "DIR="+dir, "GROUP="+group.Dir, "LEAK="+testprog(t, "leak"))
	said, told := tellOn(t, cmd)
	told("watching every Go program of node-7", "start")
	told("incident ", "end")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said())
	}

	ask := func(args ...string) []byte {
		c := exec.Command(tool, args...)
		c.Env = append(c.Environ(), "HIGHWATER_STORE=file://"+filepath.Join(dir, "store"), "HIGHWATER_TENANT=test")
		out, err := c.Output()
		switch said := string(stderrOf(err)); {
		case err == nil, args[0] == "tune" && c.ProcessState.ExitCode() == 4: // it refuses to predict, and says why
		case args[0] == "heap" && c.ProcessState.ExitCode() == 4 && strings.Contains(said, "has no capture of a heap; "): // it took too long, on a busy machine
			t.Log(said)
		default:
			t.Fatalf("%v: %v\n%s%s", args, err, out, said)
		}
		return out
	}
	var got struct {
		Causes []struct {
			Service, Class, Status, Since, Where string
			Kills                                int
			Newest                               string `json:"newest_incident"`
		}
	}
	if err := json.Unmarshal(ask("fleet", "incidents", "--tenant", "test", "--json"), &got); err != nil || len(got.Causes) != 1 {
		t.Fatalf("%v, %+v\n%s", err, got, said())
	}
	c := got.Causes[0]
	if c.Service != "checkout" || c.Status != "new" || c.Since != "v1.42.0" || c.Kills != 1 || c.Class != "leak" || !strings.HasPrefix(c.Where, "leak/main.go:") {
		t.Errorf("%+v", c)
	}
	var answer struct {
		Outcome struct{ Sentence string }
		Verdict struct{ Class string }
	}
	if err := json.Unmarshal(ask("explain", "--json", c.Newest[:10]), &answer); err != nil || answer.Verdict.Class != "leak" ||
		!strings.Contains(answer.Outcome.Sentence, "48 MiB") {
		t.Errorf("%v, %+v", err, answer)
	}
	store := "file://" + filepath.Join(dir, "store")
	for _, words := range [][]string{
		{"explain", "--json", "highwater.explain/1"}, {"tune", "--json", "highwater.tune/1"},
		{"open", "--json", "--store", store, "--tenant", "test", "--html", filepath.Join(dir, "page.html"), "highwater.open/1"},
	} {
		args, schema := append(words[:len(words)-1:len(words)-1], c.Newest[:8]), words[len(words)-1]
		if out := ask(args...); !strings.Contains(string(out), `"schema": "`+schema+`"`) {
			t.Errorf("%v: %s", args, out)
		}
	}
	var held struct {
		Holders []struct{ Path string }
	}
	if out := ask("heap", "--json", c.Newest[:12]); len(out) > 0 && (json.Unmarshal(out, &held) != nil || len(held.Holders) == 0) {
		t.Errorf("heap does not say what retains it: %.300s", out)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "page.html")); err != nil || !strings.Contains(string(page), "48 MiB") {
		t.Errorf("the page: %v, %d bytes", err, len(page))
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "recordings", "*.hwm")); len(kept) != 1 {
		t.Errorf("recordings: %v", kept)
	}
	if out, err := exec.Command("grep", "-rac", "of-the-service", dir).Output(); err == nil {
		t.Errorf("the environment was kept: %s", out)
	}
}

// stderrOf is what a command that failed said.
func stderrOf(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}

// tellOn starts a command. told waits for a line of its standard error that begins so, and
// answers with a line on its standard input; with none where answer is "".
func tellOn(t *testing.T, cmd *exec.Cmd) (said func() string, told func(begins, answer string)) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	var all strings.Builder
	return all.String, func(begins, answer string) {
		t.Helper()
		for lines.Scan() {
			all.WriteString(lines.Text() + "\n")
			if strings.HasPrefix(lines.Text(), begins) {
				if answer == "" {
					return
				}
				if _, err := io.WriteString(in, answer+"\n"); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
		t.Fatalf("no line begins with %q:\n%s", begins, all.String())
	}
}
