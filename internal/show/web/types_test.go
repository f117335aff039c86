package web_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// The bundler takes types away without looking at them; the compiler looks. It is
// pinned by package-lock.json and installed aside, since nothing else needs node.
func TestTheTypesOfThePageAgree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hwtest.Need(t, hwtest.Program("npm"), func() error { return installLocked(dir) })
	out, err := exec.Command(filepath.Join(dir, "node_modules", ".bin", "tsc"), "--noEmit", "--project", "ui").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// installLocked puts the locked packages into a folder.
func installLocked(dir string) error {
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("ui", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	npm := exec.Command("npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("needs the TypeScript compiler, which npm does not install: %w\n%s", err, out)
	}
	return nil
}
