package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/corefile"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// obedient is a program that can be made to crash.
type obedient struct {
	*hwtest.Piped
	dir string
}

func startObedient(t *testing.T, cmd *exec.Cmd) *obedient {
	t.Helper()
	cmd.Env, cmd.Dir = append(cmd.Environ(), "GOTRACEBACK=crash"), t.TempDir()
	return &obedient{hwtest.StartPiped(t, cmd), cmd.Dir}
}

// crash lets the program die so that the kernel writes its core.
func (o *obedient) crash(t *testing.T) string {
	t.Helper()
	unlimited := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(o.PID, unix.RLIMIT_CORE, &unlimited, nil); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(o.PID, unix.SIGABRT); err != nil {
		t.Fatal(err)
	}
	_ = o.Wait() // killed, as it must be
	files, err := filepath.Glob(filepath.Join(o.dir, "core*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("core files %v, %v", files, err)
	}
	return files[0]
}

// What the kernel leaves out of a plugin comes from its file, and its allocations have
// the names that the program gives them.
func TestAPluginInACoreIsNamed(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, kernelWritesCores)
	const dir = "../eyes/gomem/testdata/plugins"
	exe := hwtest.Build(t, dir, hwtest.BuildOptions{CGO: true})
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "PLUGIN="+hwtest.Build(t, dir+"/plugin", hwtest.BuildOptions{Mode: "plugin"}))
	o := startObedient(t, cmd)
	if said := append(o.Ask("open"), o.Ask("gc")...); len(said) > 0 {
		t.Fatal(said)
	}
	want := o.Ask("profile")
	core, err := corefile.Open(o.crash(t))
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	if _, err := core.UseExecutable(exe); err != nil {
		t.Fatal(err)
	}
	core.UseLibraries()
	bin := openBinary(t, exe)
	base, err := core.Base()
	if err != nil {
		t.Fatal(err)
	}
	rt, err := gomem.AttachCore(core, bin, base-bin.Base())
	if err != nil {
		t.Fatal(err)
	}
	stats := gostats.New(rt)
	var p sample.HeapProfile
	if err := stats.Profile(&p); err != nil {
		t.Fatal(err)
	}
	var got []string
	symbols := bin.Symbolizer(base - bin.Base())
	for i, b := range stats.Buckets(0) {
		line := fmt.Sprint(p.Counts[i].PubAllocs)
		for _, loc := range symbols.Site(b).Stack {
			for _, f := range loc.Frames {
				name, _, generic := strings.Cut(f.Func, "[")
				if generic {
					name += "[...]"
				}
				line += fmt.Sprintf(" %s=%s:%d", name, f.File, f.Line)
			}
		}
		if p.Counts[i].PubAllocs > 0 && strings.Contains(line, "plugin.go") {
			got = append(got, line)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) < 4 {
		t.Errorf("the program says\n%s\nread was\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

func TestACoreOfAProgramInCWithAGoLibraryIsImported(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, kernelWritesCores)
	library := hwtest.Build(t, "../eyes/gomem/testdata/target", hwtest.BuildOptions{Mode: "c-shared", Tags: "library", Strip: true})
	o := startObedient(t, exec.Command(hwtest.LibraryHost(t), library))
	for _, command := range []string{"rate 1", "sites 200", "rate 4096", "big 41943040", "gc"} {
		if said := o.Ask("%s", command); len(said) > 0 {
			t.Fatal(said)
		}
	}
	// It explains what it has imported, and one instant is not enough for a cause.
	out, err := exec.Command(highwater(t), "import", "-o", filepath.Join(t.TempDir(), "core.hwm"), o.crash(t)).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 4) {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(strings.Join(strings.Fields(string(out)), " "), "40.0 MiB of the live heap was allocated at target/main.go:59") {
		t.Errorf("the line that keeps 40 MiB is not named:\n%s", out)
	}
}
