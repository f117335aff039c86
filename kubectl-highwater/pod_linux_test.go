package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// containerdConf is that of a containerd of its own, which takes no image from anywhere.
const containerdConf = `version = 3
root = "%[1]s/containerd"
state = "%[1]s/containerd-state"
[grpc]
address = "%[1]s/containerd.sock"
[ttrpc]
address = "%[1]s/containerd.sock.ttrpc"
[plugins."io.containerd.cri.v1.images"]
snapshotter = "native"
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "localhost/pause:1"
[plugins."io.containerd.cri.v1.runtime"]
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.cri.v1.runtime".containerd]
default_runtime_name = "runc"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
BinaryName = "%[2]s/runc"
[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["%[1]s/cni"]
conf_dir = "%[1]s/net"
`

const kubeletConf = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: %[3]s
enforceNodeAllocatable: []
containerRuntimeEndpoint: unix://%[1]s/containerd.sock
address: 127.0.0.1
port: %[2]s
healthzPort: 0
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
podLogsDir: %[1]s/logs
makeIPTablesUtilChains: false
failSwapOn: false
evictionHard: {memory.available: 1Mi, nodefs.available: "1%%", imagefs.available: "1%%"}
`

// noNetwork is a network plugin that makes nothing, and says that it did: no pod here is spoken to.
const noNetwork = `#!/bin/sh
case "$CNI_COMMAND" in
ADD) echo '{"cniVersion": "1.0.0", "interfaces": [{"name": "eth0", "sandbox": "'"$CNI_NETNS"'"}], "ips": [{"address": "10.244.0.5/24", "interface": 0}]}' ;;
VERSION) echo '{"cniVersion": "1.0.0", "supportedVersions": ["1.0.0"]}' ;;
esac
`

// settings are what a kubelet sets in the kernel.
var settings = []string{"/proc/sys/vm/overcommit_memory", "/proc/sys/vm/panic_on_oom", "/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops"}

// node starts a containerd and a kubelet, whose node is called localhost, until the test ends.
func (c *cluster) node(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(c.bin, "kubelet")); err != nil || os.Geteuid() != 0 {
		t.Skip("SKIP-REASON: needs root, and a kubelet: make kube builds and uses it")
	}
	for _, path := range settings {
		if before, err := os.ReadFile(path); err == nil {
			t.Cleanup(func() { _ = os.WriteFile(path, before, 0) })
		}
	}
	dir := nodeDir(t)
	// Two directories: where networks are described, a file of a network's name is taken for the directory of its parts.
	for _, name := range []string{"cni", "net"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"nothing", "loopback"} {
		if err := os.WriteFile(filepath.Join(dir, "cni", name), []byte(noNetwork), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "containerd.toml"), fmt.Sprintf(containerdConf, dir, c.bin))
	write(t, filepath.Join(dir, "kubelet.yaml"), fmt.Sprintf(kubeletConf, dir, freePort(t), nodeCgroup(t, filepath.Base(dir))))
	t.Setenv("PATH", c.bin+":"+os.Getenv("PATH")) // containerd looks for its shim
	c.background(t, "containerd", "-c", filepath.Join(dir, "containerd.toml"))
	c.load(t, dir)
	// containerd looks for networks when a file comes; what is there before it starts, it did not take.
	write(t, filepath.Join(dir, "net", "10-nothing.conflist"), `{"cniVersion": "1.0.0", "name": "nothing", "plugins": [{"type": "nothing"}]}`)
	c.background(t, "kubelet", "--config", filepath.Join(dir, "kubelet.yaml"), "--kubeconfig", c.config(admin), "--root-dir", filepath.Join(dir, "kubelet"),
		"--cert-dir", filepath.Join(dir, "certs"), "--hostname-override", "localhost")
	c.until(t, "the node to be ready", func() bool {
		_, out := c.kubectl(t, admin, "", "get", "nodes", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`)
		return out == "True"
	})
}

// load builds the images and hands them to containerd.
func (c *cluster) load(t *testing.T, dir string) {
	t.Helper()
	built := func(name, from, pkg string) string {
		path := filepath.Join(dir, name)
		cmd := exec.Command("go", "-C", from, "build", "-o", path, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return path
	}
	highwater := built("highwater", "..", "./cmd/highwater")
	busybox := built("sh", "../tools", "./debugshell")
	for name, archive := range map[string][]byte{
		"pause":  imageOf(t, "localhost/pause:1", []string{"/first"}, map[string]string{"/first": built("first", ".", "./testdata/first")}),
		"shop":   imageOf(t, "registry.example/shop:1.0", []string{"/bin/server"}, map[string]string{"/bin/server": built("server", ".", "./testdata/shop")}),
		"latest": imageOf(t, "ghcr.io/highwater-go/highwater:debug", []string{"/bin/highwater"}, map[string]string{"/bin/highwater": highwater, "/bin/sh": busybox}),
	} {
		path := filepath.Join(dir, name+".tar")
		if err := os.WriteFile(path, archive, 0o600); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		c.until(t, "containerd to take image "+name, func() bool {
			said.Reset()
			cmd := exec.Command(filepath.Join(c.bin, "ctr"), "-a", filepath.Join(dir, "containerd.sock"), "-n", "k8s.io", "images", "import", "--local", path)
			cmd.Stdout, cmd.Stderr = &said, &said
			return cmd.Run() == nil
		})
	}
}

// until waits until something is so, for two minutes at most.
func (c *cluster) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-tick.C {
		if so() {
			return
		}
	}
	_, pods := c.kubectl(t, admin, "", "get", "pods,events", "--all-namespaces")
	t.Fatalf("waited in vain for %s:\n%s", what, pods)
}

// local has a pod run on the node, with images that are there. latest is pulled always, so debug stands for it.
func local(p corev1.Pod, name string) corev1.Pod {
	p.Name, p.Spec.NodeName = name, "localhost"
	for i := range p.Spec.Containers {
		p.Spec.Containers[i].Image = strings.Replace(p.Spec.Containers[i].Image, ":latest", ":debug", 1)
	}
	return p
}

// restarted says how often a container of a pod has been.
func (c *cluster) restarted(t *testing.T, pod, container string) bool {
	_, out := c.kubectl(t, admin, "", "get", "pod", pod, "-o", `jsonpath={.status.containerStatuses[?(@.name=="`+container+`")].restartCount}`)
	return out != "" && out != "0"
}

// The pages' ways to explain an OOM kill, by a real kubelet, containerd and runc.
func TestThePagesOnANode(t *testing.T) {
	c := start(t)
	c.node(t)
	build := exec.Command("go", "build", "-o", filepath.Join(c.dir, "kubectl-highwater"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.must(t, admin, restricted, "create", "-f", "-")
	c.must(t, admin, "", "apply", "-f", "role.yaml")
	c.must(t, admin, "", "create", "rolebinding", "explain", "--role=highwater-explain", "--user="+engineer)
	t.Cleanup(func() {
		c.kubectl(t, admin, "", "delete", "pods", "--all", "--grace-period=1", "--timeout=60s")
	})
	plain := podOf(t, "sidecar.yaml")
	plain.Spec.Containers, plain.Spec.ShareProcessNamespace = plain.Spec.Containers[:1], nil
	for _, p := range []corev1.Pod{local(podOf(t, "entrypoint.yaml"), "shop-0"), local(podOf(t, "sidecar.yaml"), "shop-1"), local(plain, "shop-2")} {
		c.must(t, admin, text(t, p), "create", "-f", "-")
	}
	c.until(t, "shop-2 to run", func() bool {
		_, out := c.kubectl(t, admin, "", "get", "pod", "shop-2", "-o", "jsonpath={.status.phase}")
		return out == "Running"
	})
	debug := strings.Join(commandOf(t, "ephemeral.md", "kubectl debug")[1:], " ")
	debug = strings.NewReplacer("shop-0", "shop-2", ":latest", ":debug", "--all --for 1m", "--all --enable-heap-profile --for 10s").Replace(debug)
	_, said := c.kubectl(t, engineer, "", strings.Fields(debug)...) // its code may say that nothing is decided
	for range 2 {                                                   // on a busy node nothing may have been collected in those seconds
		if !strings.Contains(said, "shop/main.go:") {
			_, said = c.kubectl(t, engineer, "", strings.Fields(debug)...)
		}
	}
	const limit = "its container hit the 512 MiB memory limit"
	expect(t, "the ephemeral container", said, "server in container", "of 512 MiB", "shop/main.go:")
	for _, pod := range []string{"shop-0", "shop-1", "shop-2"} {
		c.until(t, pod+" to be killed", func() bool { return c.restarted(t, pod, "web") })
	}
	expect(t, "the entrypoint", c.must(t, admin, "", "logs", "shop-0", "-c", "web", "--previous"), "OOM-killed", limit, "shop/main.go:")
	exec := commandOf(t, "entrypoint.md", "  kubectl exec")
	expect(t, "its recording", c.must(t, admin, "", exec[1:]...), "OOM-killed", limit, "shop/main.go:")
	c.until(t, "the sidecar's answer", func() bool {
		return strings.Contains(c.must(t, engineer, "", "logs", "shop-1", "-c", "highwater"), "OOM-killed")
	})
	expect(t, "the sidecar", c.must(t, engineer, "", "logs", "shop-1", "-c", "highwater"), limit)
	code, out := c.kubectl(t, engineer, "", "highwater", "shop-2")
	expect(t, "the plugin", out, "web of pod shop/shop-2 was OOM-killed after", "512Mi of its own")
	if code != exitKilled {
		t.Errorf("the plugin ended with %d", code)
	}
	var killed corev1.Pod
	if err := yaml.Unmarshal([]byte(c.must(t, admin, "", "get", "pod", "shop-0", "-o", "yaml")), &killed); err != nil {
		t.Fatal(err)
	}
	if last := killed.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 137 {
		t.Errorf("the entrypoint's container ended with %+v", last)
	}
}

// expect wants texts in an output, on however many lines.
func expect(t *testing.T, what, out string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%s does not say %q:\n%s", what, want, out)
		}
	}
}
