package incontainer_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// commands are the indented lines of a page that podman or highwater run, or that prepare
// for them, in their order.
func commands(t *testing.T, page string) (lines []string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if first, _, _ := strings.Cut(line, " "); indented && (first == "podman" || first == "highwater" || first == "mkdir") {
			lines = append(lines, line)
		}
	}
	return lines
}

// The node that the page's first command is about has the pod that it names.
func TestTheCommandsOfThePageRunAsWritten(t *testing.T) {
	setup(t)
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(highwater(t), filepath.Join(bin, "highwater")); err != nil {
		t.Fatal(err)
	}
	parent := pod(t, "8a1b2c3d-0005", 0)
	// Slow, as a watcher on a busy machine has to come in time.
	engine.Start(t, append(inPodOf(parent, "web", "shop-0", "default"), "--memory=60m"), "/bin/server", "-rate", "3MiB")
	conf, storage := engine.Conf(t)
	script := "set -e\n"
	for _, line := range commands(t, "../../../docs/containers.md") {
		script += line + " || test $? -eq 4\n" // what is not decided
	}
	cmd := exec.Command("sh", "-xc", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+dir, "CONTAINERS_CONF="+conf, "CONTAINERS_STORAGE_CONF="+storage)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for what, n := range map[string]int{"its container hit the 60 MiB memory limit": 4, "leak/main.go:": 2,
		"server in container web of pod default/shop-0 was OOM-killed": 1, "server in container checkout was OOM-killed": 1} {
		if got := strings.Count(unwrapped(string(out)), what); got < n {
			t.Errorf("%d times %q, want %d:\n%s", got, what, n, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "shop.html")); err != nil {
		t.Error(fmt.Errorf("the page: %w", err))
	}
}
