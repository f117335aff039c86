package cgroup_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// tree writes files below a new root.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for path, text := range files {
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const v2 = " - cgroup2 cgroup rw\n"

func TestTheCgroupOfAProcessIsFoundThroughWhoeverSeesIt(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		path  string
		own   bool
		limit sample.Bytes
	}{
		"through our mounts": {map[string]string{
			"proc/self/mountinfo": "30 1 0:1 / /sys/fs/cgroup rw" + v2, "proc/7/cgroup": "0::/web\n",
			"sys/fs/cgroup/cgroup.controllers": "memory", "sys/fs/cgroup/web/memory.current": "1", "sys/fs/cgroup/web/memory.max": "700",
		}, "/web", false, 700},
		"beside us, in namespaces of their own": {map[string]string{
			"proc/self/mountinfo": "30 1 0:1 / /sys/fs/cgroup rw" + v2, "proc/7/cgroup": "0::/../web\n",
			"sys/fs/cgroup/cgroup.controllers": "memory", "sys/fs/cgroup/memory.current": "1", "sys/fs/cgroup/memory.max": "100",
			"proc/7/mountinfo": "40 1 0:1 /../web /sys/fs/cgroup rw" + v2,
			"proc/7/root/sys/fs/cgroup/cgroup.controllers": "memory", "proc/7/root/sys/fs/cgroup/memory.current": "1", "proc/7/root/sys/fs/cgroup/memory.max": "700",
			"sys/fs/web/memory.current": "1", "sys/fs/web/memory.max": "666", // where "/../web" would lead
		}, "/../web", true, 700},
		"beside us, version 1": {map[string]string{
			"proc/self/mountinfo": "30 1 0:1 /docker/us /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"proc/7/cgroup":       "4:memory:/docker/web\n",
			"proc/7/mountinfo":    "30 1 0:1 /docker/web /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"proc/7/root/sys/fs/cgroup/memory/memory.usage_in_bytes": "1", "proc/7/root/sys/fs/cgroup/memory/memory.limit_in_bytes": "700",
		}, "/docker/web", true, 700},
	} {
		t.Run(name, func(t *testing.T) {
			home, err := cgroup.FindHome(tree(t, c.files), 7)
			if err != nil || home.Path != c.path || home.Own != c.own {
				t.Fatalf("%+v, %v; want %s, own %t", home, err, c.path, c.own)
			}
			g, err := home.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			levels, err := g.Limits()
			if tightest, ok := cgroup.Tightest(levels); err != nil || !ok || tightest.Limit.V != c.limit {
				t.Errorf("levels %+v, %v; want %d", levels, err, c.limit)
			}
		})
	}
}

func TestAProcessWithoutACgroupThatIsSeenIsAnError(t *testing.T) {
	root := tree(t, map[string]string{
		"proc/self/mountinfo": "30 1 0:1 / /sys/fs/cgroup rw" + v2, "sys/fs/cgroup/cgroup.controllers": "memory", "proc/7/cgroup": "0::/../../web\n",
	})
	if home, err := cgroup.FindHome(root, 7); !errors.Is(err, cgroup.ErrNoMemory) {
		t.Errorf("%+v, %v", home, err)
	}
	if home, err := cgroup.FindHome(root, 8); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%+v, %v", home, err)
	}
}

func TestTheMachineIsFoundAndHasNoAccount(t *testing.T) {
	home, err := cgroup.FindHome(tree(t, map[string]string{
		"proc/self/mountinfo": "30 1 0:1 / /sys/fs/cgroup rw" + v2, "sys/fs/cgroup/cgroup.controllers": "memory", "proc/7/cgroup": "0::/\n",
	}), 7)
	if err != nil || home.Path != "/" {
		t.Fatalf("%+v, %v", home, err)
	}
	if g, err := home.Open(); err == nil {
		t.Errorf("it was opened: %+v", g)
	}
}

func TestALimitThatIsNotSeenIsTold(t *testing.T) {
	const mounts = "30 1 0:1 /docker/web /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
	root := tree(t, map[string]string{
		"proc/self/mountinfo": mounts, "proc/7/cgroup": "4:memory:/docker/web\n",
		"sys/fs/cgroup/memory/memory.usage_in_bytes": "1", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
		"sys/fs/cgroup/memory/memory.stat": "cache 0\nrss 0\nhierarchical_memory_limit 4096000\ntotal_cache 0\ntotal_rss 0\n",
	})
	home, err := cgroup.FindHome(root, 7)
	if err != nil {
		t.Fatal(err)
	}
	g, err := home.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	levels, err := g.Limits()
	if tightest, ok := cgroup.Tightest(levels); err != nil || !ok || tightest.Path != "" || tightest.Limit.V != 4096000 {
		t.Errorf("%+v, %v", levels, err)
	}
}
