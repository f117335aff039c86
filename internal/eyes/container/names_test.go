package container

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// machine is a made-up one with the containers of several engines.
func machine(t *testing.T) (m Machine, ids []string) {
	t.Helper()
	m = Machine{Root: t.TempDir(), Mount: t.TempDir()}
	id := func(s string) string { return strings.Repeat(s, 32) }
	ids = []string{id("a1"), id("b2"), id("c3"), id("d4"), id("e5")}
	for path, text := range map[string]string{
		"var/log/containers/shop-0_default_web-" + ids[0] + ".log": "",
		"var/lib/docker/containers/" + ids[1] + "/config.v2.json":  `{"Name": "/checkout", "Config": {"Labels": {}}}`,
		"run/containerd/io.containerd.runtime.v2.task/k8s.io/" + ids[2] +
			"/config.json": `{"annotations": {"io.kubernetes.cri.container-name": "web", "io.kubernetes.cri.sandbox-name": "shop-1", "io.kubernetes.cri.sandbox-namespace": "prod", "io.kubernetes.cri.sandbox-uid": "8a1b-02"}}`,
		"run/containers/storage/overlay-containers/" + ids[3] +
			"/userdata/config.json": `{"annotations": {"io.kubernetes.container.name": "cache", "io.kubernetes.pod.name": "shop-1", "io.kubernetes.pod.namespace": "prod"}}`,
		"proc/17/comm": "conmon\n", "proc/17/status": "Name:\tconmon\nUid:\t0\t0\t0\t0\n",
		"proc/17/cmdline": strings.Join([]string{"/usr/bin/conmon", "-c", ids[4], "-b", "/none", "-n", "by.conmon"}, "\x00"),
		"proc/18/comm":    "sh\n", "proc/18/status": "Name:\tsh\nUid:\t0\t0\t0\t0\n",
		"proc/18/cmdline": strings.Join([]string{"/bin/sh", "-c", ids[0], "-n", "not-conmon"}, "\x00"),
		"var/lib/docker/containers/broken/config.v2.json": `{"Name": `,
	} {
		file := filepath.Join(m.Root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{
		"kubepods/burstable/pod8a1b-01/" + ids[0], "docker/" + ids[1],
		"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod8a1b_02.slice/cri-containerd-" + ids[2] + ".scope",
		"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod8a1b_02.slice/crio-" + ids[3] + ".scope",
		"machine.slice/libpod-" + ids[4] + ".scope/container", "system.slice/cron.service",
	} {
		if err := os.MkdirAll(filepath.Join(m.Mount, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m, ids
}

func TestContainersHaveTheNamesThatTheirEnginesGaveThem(t *testing.T) {
	m, ids := machine(t)
	for what, want := range map[string][]int{
		"checkout": {1}, "by.conmon": {4}, "cache": {3}, "web": {0, 2}, "shop-1/web": {2}, "prod/shop-1/web": {2}, "default/shop-0/web": {0},
		ids[2][:8]: {2}, "hop-1/web": nil, "not-conmon": nil, "eb": nil, "containerd://" + ids[0]: {0},
	} {
		found, err := m.Find(what)
		if err != nil || len(found) != len(want) {
			t.Errorf("%s: %v, %v; want %d", what, found, err, len(want))
			continue
		}
		for i, n := range want {
			if found[i].ID != ids[n] {
				t.Errorf("%s: %v, want %s", what, found, ids[n])
			}
		}
	}
	if c, ok := m.Of("/kubepods/burstable/pod8a1b-01/" + ids[0]); !ok || c.String() != "web of pod default/shop-0" || c.PodUID != "8a1b-01" {
		t.Errorf("%+v", c)
	}
	if c, ok := m.Of("/system.slice/cron.service"); ok {
		t.Errorf("%+v", c)
	}
}

func TestPodsAndUnitsAreFound(t *testing.T) {
	m, _ := machine(t)
	pod := filepath.Join(m.Mount, "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod8a1b_02.slice")
	for _, what := range []string{"shop-1", "prod/shop-1", "8a1b-02"} {
		if dirs, err := m.FindPod(what); err != nil || len(dirs) != 1 || dirs[0] != pod {
			t.Errorf("%s: %v, %v", what, dirs, err)
		}
	}
	for _, what := range []string{"cron", "cron.service"} {
		if dirs, err := m.FindUnit(what); err != nil || len(dirs) != 1 || !strings.HasSuffix(dirs[0], "/cron.service") {
			t.Errorf("%s: %v, %v", what, dirs, err)
		}
	}
	for _, what := range []string{"", "../x", "a/b"} {
		if dirs, err := m.FindUnit(what); err == nil {
			t.Errorf("%q: %v", what, dirs)
		}
	}
}

func TestACgroupIsOfAContainerAPodOrAUnit(t *testing.T) {
	id := strings.Repeat("3f4e5d6c7b8a9012", 4)
	for path, want := range map[string]Kind{
		"/": OfContainer, "/docker/" + id: OfContainer, "/machine.slice/libpod-" + id + ".scope/container": OfContainer, "/../" + id: OfContainer,
		"/kubepods/burstable/pod8a1b-02": OfPod, "/kubepods.slice/kubepods-pod8a1b_02.slice": OfPod, "/libpod_pod_" + id: OfPod,
		"/system.slice/checkout.service": OfService, "/user.slice": OfSlice, "/init.scope": OfScope, "/jobs/nightly": OfNothing, "/kubepods": OfNothing,
		"/machine.slice/libpod-conmon-" + id + ".scope": OfScope,
	} {
		if got := KindOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// Bytes of a state file may be anything.
func FuzzStateFile(f *testing.F) {
	f.Add([]byte(`{"Name": "/web", "Config": {"Labels": {"nerdctl/name": "x"}}, "annotations": {"io.kubernetes.pod.name": "y"}}`))
	f.Add([]byte(`{"annotations": []}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		_ = ofBundle(file).String()
	})
}

// conmon makes up a process of a user that is called so.
func conmon(t *testing.T, m Machine, pid string, uid int, args ...string) {
	t.Helper()
	dir := filepath.Join(m.Root, "proc", pid)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"comm": "conmon\n", "status": fmt.Sprintf("Name:\tconmon\nUid:\t%d\t0\t0\t0\n", uid), "cmdline": strings.Join(args, "\x00"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A stranger calls a process of his conmon, to have another container watched under a name.
func TestAStrangersConmonNamesNoContainer(t *testing.T) {
	m, ids := machine(t)
	stranger := os.Geteuid() + 12345
	conmon(t, m, "10", stranger, "conmon", "-c", ids[1], "-n", "bank") // sorts before the true one
	conmon(t, m, "11", stranger, "conmon", "-c", ids[4], "-n", "bank")
	if found, err := m.Find("bank"); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	if c, _ := m.Of("/machine.slice/libpod-" + ids[4] + ".scope/container"); c.Name != "by.conmon" {
		t.Errorf("%q", c.Name)
	}
}

func TestAUsersConmonNamesTheContainersOfThatUser(t *testing.T) {
	hwtest.Need(t, hwtest.Root) // to give a cgroup's directory to another
	m, ids := machine(t)
	conmon(t, m, "10", 12345, "conmon", "-c", ids[4], "-n", "theirs")
	if err := os.Chown(filepath.Join(m.Mount, "machine.slice/libpod-"+ids[4]+".scope"), 12345, -1); err != nil {
		t.Fatal(err)
	}
	if found, err := m.Find("theirs"); err != nil || len(found) != 1 || found[0].ID != ids[4] {
		t.Errorf("%v, %v", found, err)
	}
}

func TestANameLongerThanAnyIsLeftOut(t *testing.T) {
	m, ids := machine(t)
	conmon(t, m, "10", 0, "conmon", "-c", ids[1], "-n", strings.Repeat("n", 1<<16))
	for _, c := range m.List() {
		if len(c.Name) > longestName {
			t.Errorf("a name of %d bytes", len(c.Name))
		}
	}
}
