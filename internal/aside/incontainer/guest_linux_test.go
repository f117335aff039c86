package incontainer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// The guest's kernel has cgroup version 2, where a container does not see what is above
// its cgroup namespace. It is emulated: the limits are small, and reads may take longer
// than the kernel gives a process that it kills.
func TestContainersUnderCgroupVersion2(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("boots a kernel")
	}
	hwtest.Need(t, hwtest.QEMU)
	const limit = 64 * sample.MiB
	cases := []struct {
		name string
		box  []string
		by   explain.By
		of   string
		says string
	}{
		{"its own limit, private namespace", []string{"-limit", "64", "-private"}, explain.ByCgroup, "container", "its container hit the 64 MiB memory limit"},
		{"the pod's limit, the host's namespace", []string{"-pod", "64"}, explain.ByParent, "pod", "its pod hit the 64 MiB memory limit"},
		{"the pod's limit, private namespace", []string{"-pod", "64", "-private"}, explain.ByParent, "", "a parent cgroup hit its memory limit"},
	}
	g := hwtest.Guest{Files: map[string]string{
		"/bin/box":       hwtest.Build(t, "testdata/box", hwtest.BuildOptions{}),
		"/bin/highwater": highwater(t),
		"/bin/leak":      testprog(t, "leak"),
	}}
	for i, c := range cases {
		kept := "/tmp/" + string(rune('a'+i)) + ".hwm"
		g.Cmds = append(g.Cmds, append(append([]string{"box"}, c.box...), "/bin/highwater", "run", "-o", kept, "--", "/bin/leak", "-rate", "8MiB"))
		g.Fetch = append(g.Fetch, kept)
	}
	r := g.Run(t)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.of == "" && strings.Contains(unwrapped(r.Cmds[i].Output), "its pod hit the 64 MiB memory limit") {
				return // the mount showed the levels above all the same
			}
			if c.of == "" && r.Cmds[i].Code == 255 {
				t.Log("the kernel ended highwater at the limit that it cannot see (docs/containers.md)")
				return
			}
			if got := r.Cmds[i]; got.Code != 137 || !strings.Contains(unwrapped(got.Output), c.says) {
				t.Errorf("code %d, want %q:\n%s", got.Code, c.says, got.Output)
			}
			path := filepath.Join(t.TempDir(), "r.hwm")
			if err := os.WriteFile(path, r.Files[g.Fetch[i]], 0o644); err != nil {
				t.Fatal(err)
			}
			a := explained(t, path)
			if o := a.Outcome; o.By != c.by || !o.Kernel || o.LimitOf != c.of || c.of != "" && deref(o.LimitBytes) != limit {
				t.Errorf("outcome %+v of %d, want %s of the %s", o, deref(o.LimitBytes), c.by, c.of)
			}
			if own := row(a, sample.RowWatcher); own == 0 || own > mostWatcher(limit) {
				t.Errorf("highwater itself takes %d KiB", own>>10)
			}
		})
	}
}
