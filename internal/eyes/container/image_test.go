package container

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes up processes: each line is "PID PARENT COMM UID CGROUP".
func tree(t *testing.T, m Machine, lines ...string) {
	t.Helper()
	for _, line := range lines {
		part := strings.Fields(line)
		put(t, m, "proc/"+part[0]+"/stat", fmt.Sprintf("%s (%s) x) S %s 1 1 0", part[0], part[2], part[1]))
		put(t, m, "proc/"+part[0]+"/comm", part[2]+"\n")
		put(t, m, "proc/"+part[0]+"/status", fmt.Sprintf("Name:\t%s\nUid:\t%s\t0\t0\t0\n", part[2], part[3]))
		put(t, m, "proc/"+part[0]+"/cgroup", "4:memory:"+part[4]+"\n")
	}
}

func put(t *testing.T, m Machine, name, text string) {
	t.Helper()
	file := filepath.Join(m.Root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, m Machine, to, name string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(m.Root, to), filepath.Join(m.Root, name)); err != nil {
		t.Fatal(err)
	}
}

// Each engine's own files, in the places where they have them; containerd is k3s's.
func TestTheImageOfAContainerIsWhatItsEngineWasAskedFor(t *testing.T) {
	m := Machine{Root: t.TempDir()}
	id := func(s string) string { return strings.Repeat(s, 32) }
	sandbox, web, docker, crio, podman := id("a1"), id("b2"), id("c3"), id("d4"), id("e5")
	tree(t, m, "10 1 containerd-shim 0 /kubepods/pod8a1b/"+sandbox, "11 10 server 1000 /kubepods/pod8a1b/"+web, "12 11 worker 1000 /kubepods/pod8a1b/"+web,
		"20 1 containerd-shim 0 /system.slice/docker.service", "21 20 server 0 /docker/"+docker,
		"30 1 conmon 0 /machine.slice/crio-conmon-"+crio+".scope", "31 30 server 0 /kubepods/pod8a1b/crio-"+crio,
		"40 1 conmon 0 /machine.slice/libpod-conmon-"+podman+".scope", "41 40 server 0 /machine.slice/libpod-"+podman+".scope/container",
		"50 11 containerd-shim 0 /kubepods/pod8a1b/"+web, "51 50 server 0 /kubepods/pod8a1b/"+web, // a program that calls itself so
		"60 1 containerd-shim 4711 /user.slice", "61 60 server 4711 /docker/"+docker, // a stranger's
	)
	const tasks = "run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/"
	put(t, m, tasks+sandbox+"/config.json", `{"annotations": {}}`)
	put(t, m, tasks+web+"/config.json", `{"annotations": {"io.kubernetes.cri.image-name": "registry.example/shop:1.0"}}`)
	link(t, m, tasks+sandbox, "proc/10/cwd")
	put(t, m, "forged/x", "")
	put(t, m, web+"/config.json", `{"annotations": {"io.kubernetes.cri.image-name": "forged"}}`)
	link(t, m, "forged", "proc/50/cwd")
	put(t, m, "run/moby/"+docker+"/config.json", `{}`)
	link(t, m, "run/moby/"+docker, "proc/20/cwd")
	link(t, m, "run/moby/"+docker, "proc/60/cwd")
	for _, pid := range []string{"20", "30", "40", "60"} {
		link(t, m, ".", "proc/"+pid+"/root")
	}
	put(t, m, "var/lib/docker/containers/"+docker+"/config.v2.json", `{"Config": {"Image": "nginx:1.29"}}`)
	put(t, m, "proc/30/cmdline", strings.Join([]string{"conmon", "-c", crio, "-b", "/run/containers/storage/overlay-containers/" + crio + "/userdata"}, "\x00"))
	put(t, m, "run/containers/storage/overlay-containers/"+crio+"/userdata/config.json", `{"annotations": {"io.kubernetes.cri-o.ImageName": "quay.io/shop:2"}}`)
	const storage = "/var/lib/containers/storage/overlay-containers/"
	put(t, m, "proc/40/cmdline", strings.Join([]string{"conmon", "-c", podman, "-b", storage + podman + "/userdata"}, "\x00"))
	put(t, m, storage+podman+"/userdata/config.json", `{"annotations": {"io.container.manager": "libpod"}}`)
	put(t, m, storage+"containers.json", `[{"id": "`+docker+`", "metadata": "{\"image-name\": \"other\"}"}, {"id": "`+podman+
		`", "metadata": "{\"image-name\": \"docker.io/library/shop:3\"}"}]`)
	for _, c := range []struct {
		pid      int
		id, want string
	}{
		{11, web, "registry.example/shop:1.0"}, {12, web, "registry.example/shop:1.0"}, {21, docker, "nginx:1.29"}, {31, crio, "quay.io/shop:2"},
		{41, podman, "docker.io/library/shop:3"},
		{51, web, "registry.example/shop:1.0"}, {61, docker, ""}, {11, "", ""}, {99, web, ""}, {11, docker, ""},
	} {
		if got := m.Image(c.pid, c.id); got != c.want {
			t.Errorf("pid %d of %.4s: %q, want %q", c.pid, c.id, got, c.want)
		}
	}
}
