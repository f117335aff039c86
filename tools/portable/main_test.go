package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A package that one system lacks a function of does not compile for it.
func TestAFunctionThatASystemLacksIsFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module example.org/p\n\ngo 1.26\n",
		"main.go":       "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(name()) }\n",
		"name_linux.go": "package main\n\nfunc name() string { return \"linux\" }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := check(dir, "linux/arm64", []string{"./..."}); err != nil {
		t.Error(err)
	}
	err := check(dir, "darwin/arm64", []string{"./..."})
	if err == nil || !strings.Contains(err.Error(), "undefined: name") {
		t.Errorf("for darwin: %v", err)
	}
	if err := check(dir, "darwin", []string{"./..."}); err == nil {
		t.Error("an operating system alone is taken")
	}
	if err := check(dir, "linux/arm64", []string{"example.org/none"}); err == nil {
		t.Error("a package that there is not is taken")
	}
}
