package gomem

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/hwtest"
	"github.com/highwater-go/highwater/internal/sample"
)

// startWithPlugin runs a program that has opened a plugin.
func startWithPlugin(t *testing.T, toolchain string) *target {
	t.Helper()
	dir := filepath.Join("testdata", "plugins")
	host := hwtest.Build(t, dir, hwtest.BuildOptions{Toolchain: toolchain, CGO: true})
	plugin := filepath.Join(t.TempDir(), "plugin.so")
	cmd := exec.Command("go", "build", "-buildmode=plugin", "-o", plugin, "./plugin")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=1", "GOTOOLCHAIN="+toolchain)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the plugin: %v: %s", err, out)
	}
	p := launch(t, host, "PLUGIN="+plugin)
	if lines := p.ask("gc"); len(lines) > 0 {
		t.Fatal(lines)
	}
	p.attach()
	return p
}

func TestAPluginsVariablesAndGoroutinesAreThePrograms(t *testing.T) {
	for _, toolchain := range []string{newest.toolchain} {
		t.Run(toolchain, func(t *testing.T) {
			p := startWithPlugin(t, toolchain)
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			if live := p.live(); live.Bytes < 32<<20 {
				t.Errorf("%d bytes are live, 32 MiB are in a variable of the plugin", live.Bytes)
			}
			groups, err := p.runtime.Goroutines()
			if err != nil {
				t.Fatal(err)
			}
			foreign := 0
			for _, g := range groups {
				if g.Reason != "chan receive" {
					continue
				}
				end := g.Stack[len(g.Stack)-1]
				if _, ok := p.bin.FuncAt(end - p.bias); !ok {
					foreign += g.Count
				}
			}
			if foreign != 1 {
				t.Errorf("%d goroutines wait in the plugin: %+v", foreign, groups)
			}
		})
	}
}

func TestAListOfModulesWithoutAnEndIsRefused(t *testing.T) {
	p := start(t, newest)
	modules := &p.runtime.goroutines.modules
	circle := overlay{p.mem, int64(modules.first + modules.next), modules.first}
	rt, err := Attach(circle, p.bin, p.bias)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rt.Goroutines(); err == nil {
		t.Error("goroutines are read")
	}
	if _, err := rt.LiveObjects(t.Context()); err == nil {
		t.Error("live objects are found")
	}
	if err := rt.Counters(new(sample.Runtime)); err != nil {
		t.Error(err)
	}
}
