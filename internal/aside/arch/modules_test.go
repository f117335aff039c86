package arch

import (
	"archive/zip"
	"go/version"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// goCommand runs the go command at a folder, and is the lines that it prints.
func goCommand(t *testing.T, dir string, env []string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append([]string{"GOFLAGS=", "GOWORK=off"}, env...)...)
	out, err := cmd.Output()
	if err != nil {
		if ee, ok := err.(*exec.ExitError); ok {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, ee.Stderr)
		}
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// productModules are the modules with a package in the executable, on each system, and the go line of each, "" for
// none.
func productModules(t *testing.T) map[string]string {
	found := make(map[string]string)
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, line := range goCommand(t, root(t), []string{"GOOS=" + system, "CGO_ENABLED=0"}, "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.GoVersion}}{{end}}{{end}}", "./cmd/highwater") {
			if path, needs, ok := strings.Cut(line, " "); ok {
				found[path] = needs
			}
		}
	}
	return found
}

// The go line of go.mod is the oldest that the modules of the executable allow. A test that fails says that it can be
// lowered, or that a module has become newer than it is.
func TestTheGoLineIsTheOldestThatTheModulesAllow(t *testing.T) {
	line := goCommand(t, root(t), nil, "list", "-m", "-f", "{{.GoVersion}}")[0]
	var forcing []string
	for path, needs := range productModules(t) {
		switch c := version.Compare("go"+needs, "go"+line); {
		case needs != "" && c > 0:
			t.Errorf("%s needs Go %s", path, needs)
		case needs != "" && c == 0:
			forcing = append(forcing, path)
		}
	}
	slices.Sort(forcing)
	t.Logf("go %s is asked for by %s", line, strings.Join(forcing, ", "))
	if len(forcing) == 0 {
		t.Errorf("no module of the executable needs Go %s: lower the go line", line)
	}
}

// onlyTested are modules of tests and of tools, of which no user of the program needs anything.
var onlyTested = []string{"github.com/chromedp/chromedp", "github.com/chromedp/cdproto", "github.com/rogpeppe/go-internal", "github.com/evanw/esbuild"}

func TestModulesOfTestsAreNotInTheProgram(t *testing.T) {
	found := productModules(t)
	if len(found) < 20 {
		t.Fatalf("only %d modules: %v", len(found), found)
	}
	for _, path := range onlyTested {
		if _, ok := found[path]; ok {
			t.Errorf("the program has a package of %s", path)
		}
	}
}

// go install, into an empty module cache, downloads nothing of what only tests need: no archive, and no go.mod.
// The modules come from the cache of the machine, the product's own from this tree.
func TestGoInstallResolvesNoModuleOfTests(t *testing.T) {
	hwtest.Slow(t, "unpacks all modules of the program")
	machine := goCommand(t, root(t), nil, "env", "GOMODCACHE")[0]
	proxy, cache := t.TempDir(), t.TempDir()
	if err := publish(root(t), proxy, "v0.0.1"); err != nil {
		t.Fatal(err)
	}
	env := []string{"GOPROXY=file://" + proxy + ",file://" + machine + "/cache/download", "GOMODCACHE=" + cache, "GOSUMDB=off", "GOBIN=" + t.TempDir()}
	// -n loads all packages, and downloads what that takes; nothing is compiled.
	goCommand(t, t.TempDir(), env, "install", "-n", "-modcacherw", strings.TrimSuffix(module, "/")+"/cmd/highwater@v0.0.1")
	for _, path := range onlyTested {
		if _, err := os.Stat(filepath.Join(cache, "cache", "download", filepath.FromSlash(path))); err == nil {
			t.Errorf("go install downloads of %s", path)
		}
	}
	for _, path := range []string{"modernc.org/sqlite", "golang.org/x/sys", strings.TrimSuffix(module, "/")} {
		if _, err := os.Stat(filepath.Join(cache, "cache", "download", filepath.FromSlash(path))); err != nil {
			t.Errorf("of what is in the program: %v", err)
		}
	}
}

// publish writes the module into the folder of a module proxy (go help goproxy): what go install needs of it.
func publish(from, proxy, v string) error {
	path := strings.TrimSuffix(module, "/")
	dir := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"list": v + "\n", v + ".info": `{"Version":"` + v + `","Time":"2026-01-01T00:00:00Z"}`, v + ".mod": string(mod)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	out, err := os.Create(filepath.Join(dir, v+".zip"))
	if err != nil {
		return err
	}
	defer out.Close()
	archive := zip.NewWriter(out)
	for _, part := range []string{"go.mod", "go.sum", "cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(from, part), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if err == nil && file != from && skipped(file, d.Name()) {
					return filepath.SkipDir
				}
				return err
			}
			relative, err := filepath.Rel(from, file)
			if err != nil || !d.Type().IsRegular() || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			w, err := archive.Create(path + "@" + v + "/" + filepath.ToSlash(relative))
			if err == nil {
				_, err = w.Write(text)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return archive.Close()
}
