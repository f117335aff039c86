package hwtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

func TestTheGuestRunsCommandsAndGivesTheirOutputCodesAndFiles(t *testing.T) {
	t.Run("amd64", func(t *testing.T) { guestRuns(t, "amd64") })
	t.Run("arm64", func(t *testing.T) { guestRuns(t, "arm64") })
}

func guestRuns(t *testing.T, arch string) {
	source := t.TempDir()
	write(t, source, "go.mod", "module example.com/tool\n\ngo 1.24\n")
	write(t, source, "main.go", `package main

import (
	"fmt"
	"os"
	"syscall"
)

func main() {
	switch os.Args[1] {
	case "fail":
		fmt.Println("standard output")
		fmt.Fprintln(os.Stderr, "standard error")
		os.Exit(7)
	case "die":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "write":
		os.WriteFile("/tmp/left", []byte("two\nlines\x00\xff"), 0o600)
	}
}
`)
	g := hwtest.Guest{
		Arch:  arch,
		Files: map[string]string{"/opt/tool": hwtest.Build(t, source, hwtest.BuildOptions{Env: []string{"GOARCH=" + arch}})},
		Cmds:  [][]string{{"/opt/tool", "fail"}, {"/opt/tool", "die"}, {"/opt/tool", "write"}, {"/opt/none"}},
		Fetch: []string{"/tmp/left", "/tmp/none"},
	}
	r := g.Run(t)
	want := []struct {
		output string
		code   int
	}{{"standard output\nstandard error\n", 7}, {"", 137}, {"", 0}, {"fork/exec /opt/none: no such file or directory\n", -1}}
	for i, w := range want {
		if got := r.Cmds[i]; got.Output != w.output || got.Code != w.code {
			t.Errorf("%v: code %d, output %q; want %d, %q", g.Cmds[i], got.Code, got.Output, w.code, w.output)
		}
	}
	if len(r.Files) != 1 || string(r.Files["/tmp/left"]) != "two\nlines\x00\xff" {
		t.Errorf("files = %q", r.Files)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
