package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The set-up is run with an apt-get that installs nothing, and says when it was asked.
func TestWhatTheTestsInstallIsSaidBefore(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the set-up is for Debian")
	}
	bin := t.TempDir()
	for name, text := range map[string]string{
		"dpkg-query": `test "$4" = here && echo "install ok installed"`,
		"apt-get":    `echo "apt-get $*"`,
		"id":         `echo 0`,
		"go":         `true`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("../../../.ci/setup", "here", "lacking", "lacking-too")
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HIGHWATER_SETUP_PACKAGES_ONLY=1", "HIGHWATER_CACHE="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said, asked, found := strings.Cut(string(out), "apt-get update")
	if !found || !strings.Contains(asked, "install") {
		t.Fatalf("nothing was installed: %s", out)
	}
	if lines := strings.Split(strings.TrimSpace(said), "\n"); len(lines) != 1 || !strings.HasSuffix(lines[0], ": lacking lacking-too") {
		t.Errorf("before it was said: %q", said)
	}
}
