package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const agentManifest = "../deploy/kubernetes/agent.yaml"

// agentSet is the DaemonSet of the manifest.
func agentSet(t *testing.T) (set appsv1.DaemonSet) {
	t.Helper()
	b, err := os.ReadFile(agentManifest)
	if err != nil {
		t.Fatal(err)
	}
	parts := bytes.Split(b, []byte("\n---\n"))
	if err := yaml.UnmarshalStrict(parts[len(parts)-1], &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// agentPod is the pod that the DaemonSet has on a node.
func agentPod(t *testing.T) corev1.Pod {
	t.Helper()
	template := agentSet(t).Spec.Template
	p := corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	p.APIVersion, p.Kind, p.Name, p.Namespace = "v1", "Pod", "highwater-agent-0", "highwater"
	return p
}

// The API server takes the manifests as they are. Pod Security takes the agent in its namespace, and refuses
// it under baseline for what docs/fleet.md says that it needs and nothing else; its service account
// may create Events and do nothing besides.
func TestPodSecurityTakesTheAgentInItsNamespaceAlone(t *testing.T) {
	c := start(t)
	manifest, err := filepath.Abs(agentManifest)
	if err != nil {
		t.Fatal(err)
	}
	if out := c.must(t, admin, "", "apply", "--validate=strict", "-f", manifest); strings.Contains(out, "Warning") {
		t.Errorf("%s", out)
	}
	pod := agentPod(t)
	c.must(t, admin, text(t, pod), "create", "--dry-run=server", "-f", "-")
	for _, level := range []string{"baseline", "restricted"} {
		c.must(t, admin, `{apiVersion: v1, kind: Namespace, metadata: {name: `+level+`, labels: {pod-security.kubernetes.io/enforce: `+level+`}}}`, "create",
			"-f", "-")
		pod.Namespace = level
		if code, out := c.kubectl(t, admin, text(t, pod), "create", "--dry-run=server", "-f", "-"); code == 0 || !strings.Contains(out, "violates PodSecurity") {
			t.Errorf("%s: %d: %s", level, code, out)
		}
	}
	pod.Namespace = "baseline"
	_, out := c.kubectl(t, admin, text(t, pod), "create", "--dry-run=server", "-f", "-")
	for _, why := range []string{"host namespaces (hostPID=true)", `"DAC_READ_SEARCH"`, `"SYS_PTRACE"`, "hostPath volumes", "forbidden AppArmor profile"} {
		if !strings.Contains(out, why) {
			t.Errorf("baseline does not refuse %s: %s", why, out)
		}
	}
	for _, more := range []string{"privileged", "hostNetwork", "hostIPC", "hostPort", "seccomp", "sysctls"} {
		if strings.Contains(out, more) {
			t.Errorf("it asks for %s too: %s", more, out)
		}
	}
	// The chart makes the same, and what it makes is taken without a warning.
	chart, err := exec.Command("go", "-C", "../deploy/helm", "run", "./render", "highwater").Output()
	if err != nil {
		t.Fatal(err)
	}
	if out := c.must(t, admin, string(chart), "apply", "--validate=strict", "-f", "-"); strings.Contains(out, "Warning") {
		t.Errorf("%s", out)
	}
	// The rollup needs nothing of its node.
	rollup, err := os.ReadFile("../deploy/kubernetes/rollup.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.CronJob
	if err := yaml.UnmarshalStrict(rollup, &job); err != nil {
		t.Fatal(err)
	}
	if out := c.must(t, admin, string(rollup), "apply", "--validate=strict", "-f", "-"); strings.Contains(out, "Warning") {
		t.Errorf("%s", out)
	}
	sums := corev1.Pod{Spec: job.Spec.JobTemplate.Spec.Template.Spec}
	sums.APIVersion, sums.Kind, sums.Name, sums.Namespace = "v1", "Pod", "rollup", "restricted"
	c.must(t, admin, text(t, sums), "create", "--dry-run=server", "-f", "-")
	as := "--as=system:serviceaccount:highwater:highwater-agent"
	for _, may := range []struct{ verb, what, namespace, want string }{
		{"create", "events", "shop", "yes"}, {"create", "events", "highwater", "yes"}, {"list", "events", "shop", "no"}, {"delete", "events", "shop", "no"},
		{"get", "pods", "shop", "no"}, {"list", "pods", "highwater", "no"}, {"get", "secrets", "highwater", "no"}, {"create", "pods", "highwater", "no"},
		{"get", "nodes", "", "no"},
	} {
		if _, out := c.kubectl(t, admin, "", "auth", "can-i", may.verb, may.what, "-n", may.namespace, as); !strings.HasPrefix(lastLine(out), may.want) {
			t.Errorf("%+v: %s", may, out)
		}
	}
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

// ownProcesses has the servers that follow run in a PID namespace of their own: an agent sees all Go programs
// of its node, and those of others must not be watched.
func (c *cluster) ownProcesses(t *testing.T) {
	t.Helper()
	first := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", "echo here; exec sleep 1000000")
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = first.Process.Kill()
		_ = first.Wait()
	})
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Skip("SKIP-REASON: needs namespaces: ", err)
	}
	children, err := os.ReadFile("/proc/" + strconv.Itoa(first.Process.Pid) + "/task/" + strconv.Itoa(first.Process.Pid) + "/children")
	if err != nil {
		t.Fatal(err)
	}
	c.enter = []string{"nsenter", "-t", strings.TrimSpace(string(children)), "-p", "-m", "--"}
}

// agentOf is the agent's pod for this node: with a directory in the store's and the bucket's place, and the API server's
// address, certificate and token, which a cluster's network, controllers and admission give it elsewhere.
func (c *cluster) agentOf(t *testing.T, state string) corev1.Pod {
	t.Helper()
	p := local(agentPod(t), "highwater-agent-0")
	p.Spec.HostNetwork, p.Spec.PriorityClassName = true, "" // no network of pods is here
	one := &p.Spec.Containers[0]
	one.Ports = nil
	kept := slices.DeleteFunc(one.Args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains([]string{"--store", "--credentials", "--recordings", "--bucket-endpoint", "--bucket-credentials", "--metrics"}, name)
	})
	one.Args = append(kept, "--store=file:///var/lib/highwater/store", "--heap-profile=on")
	_, port, _ := strings.Cut(strings.TrimPrefix(c.server, "https://"), ":")
	one.Env = append(one.Env, corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: "127.0.0.1"}, corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: port})
	one.VolumeMounts = append(one.VolumeMounts, corev1.VolumeMount{Name: "account", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true})
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "account",
		VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "server"}}},
		}}}})
	for i := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[i]; v.Name == "state" {
			v.HostPath.Path = state
		}
	}
	return p
}

// controls starts the controller of DaemonSets, and no other.
func (c *cluster) controls(t *testing.T) {
	t.Helper()
	c.background(t, "kube-controller-manager", "--kubeconfig", c.config(admin), "--controllers=daemonset-controller", "--leader-elect=false",
		"--bind-address=127.0.0.1", "--secure-port="+freePort(t), "--cert-dir", filepath.Join(c.dir, "controllers"))
}

// agents are the names of the agent's pods that are not about to end, in order of their names.
func (c *cluster) agents(t *testing.T) []string {
	t.Helper()
	_, out := c.kubectl(t, admin, "", "get", "pods", "-n", "highwater", "-l", "app=highwater-agent", "-o",
		`jsonpath={range .items[*]}{.metadata.name}{" "}{.metadata.deletionTimestamp}{"\n"}{end}`)
	var names []string
	for line := range strings.Lines(out) {
		if words := strings.Fields(line); len(words) == 1 {
			names = append(names, words[0])
		}
	}
	return names
}

// The DaemonSet of the manifest, by its real controller on a real kubelet: a pod is OOM-killed, and there is an
// incident that names it, and an Event on it. Then the DaemonSet is rolled over: the next agent starts beside
// the one before, and takes over.
func TestTheAgentOnANode(t *testing.T) {
	c := start(t)
	c.ownProcesses(t)
	c.node(t)
	manifest, err := filepath.Abs(agentManifest)
	if err != nil {
		t.Fatal(err)
	}
	c.must(t, admin, "", "apply", "-f", manifest)
	c.must(t, admin, "", "create", "secret", "generic", "highwater", "-n", "highwater", "--from-literal=store=nobody:none")
	c.must(t, admin, "", "create", "configmap", "server", "-n", "highwater", "--from-file=ca.crt="+filepath.Join(c.dir, "certs", "apiserver.crt"))
	c.must(t, admin, restricted, "create", "-f", "-")
	state := filepath.Join(c.dir, "state")
	set := agentSet(t)
	set.Spec.Template.Spec = c.agentOf(t, state).Spec // with its node, as no scheduler is here
	c.must(t, admin, text(t, set), "replace", "-f", "-")
	c.controls(t)
	c.until(t, "the controller to make a pod", func() bool { return len(c.agents(t)) == 1 })
	agent := c.agents(t)[0]
	t.Cleanup(func() {
		c.kubectl(t, admin, "", "delete", "pods", "--all", "-n", "shop", "--grace-period=1", "--timeout=60s")
		c.kubectl(t, admin, "", "delete", "pods", "--all", "-n", "highwater", "--grace-period=5", "--timeout=60s")
	})
	logs := func() string {
		_, out := c.kubectl(t, admin, "", "logs", "-n", "highwater", agent)
		return out
	}
	c.until(t, "the agent to watch", func() bool { return strings.Contains(logs(), "watching every Go program of ") })
	plain := podOf(t, "sidecar.yaml")
	plain.Spec.Containers, plain.Spec.ShareProcessNamespace = plain.Spec.Containers[:1], nil
	c.must(t, admin, text(t, local(plain, "shop-0")), "create", "-f", "-")
	c.until(t, "the pod to be killed", func() bool { return c.restarted(t, "shop-0", "web") })
	var event corev1.Event
	c.until(t, "the Event", func() bool {
		_, out := c.kubectl(t, admin, "", "get", "events", "-n", "shop", "--field-selector", "reason=GoMemoryKill,involvedObject.name=shop-0", "-o", "json")
		var list corev1.EventList
		if json.Unmarshal([]byte(out), &list) == nil && len(list.Items) > 0 {
			event = list.Items[0]
		}
		return event.Message != ""
	})
	expect(t, "the Event", event.Message, "512 MiB", "shop/main.go:", "Image registry.example/shop:1.0.", "highwater explain ")
	if o := event.InvolvedObject; o.Kind != "Pod" || o.FieldPath != "spec.containers{web}" || event.Source.Component != "highwater-agent" ||
		event.Source.Host != "localhost" {
		t.Errorf("the Event is of %+v, from %+v", o, event.Source)
	}
	if described := c.must(t, admin, "", "describe", "pod", "shop-0", "-n", "shop"); !strings.Contains(described, "GoMemoryKill") {
		t.Errorf("kubectl describe does not show it:\n%s", described)
	}
	ask := exec.Command("go", "-C", "..", "run", "./cmd/highwater", "fleet", "incidents", "--store", "file://"+filepath.Join(state, "store"), "--tenant",
		"production", "--pod", "shop-0", "--json")
	out, err := ask.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, logs())
	}
	for _, want := range []string{`"namespace": "shop"`, `"pod": "shop-0"`, `"container": "web"`, `"image": "registry.example/shop:1.0"`, `"node": "localhost"`,
		`"kind": "kill"`, "shop/main.go"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("the incident has no %s:\n%s", want, out)
		}
	}
	if kept, _ := filepath.Glob(filepath.Join(state, "recordings", "*.hwm")); len(kept) == 0 {
		t.Errorf("no recording is kept\n%s", logs())
	}
	t.Logf("%s\n%s", event.Message, logs())
	before := agent
	c.must(t, admin, "", "set", "env", "daemonset/highwater-agent", "-n", "highwater", "ROLLED=over")
	c.until(t, "the next agent to take over", func() bool {
		names := c.agents(t)
		if len(names) != 1 || names[0] == before {
			return false
		}
		agent = names[0]
		return strings.Contains(logs(), "watching every Go program of ")
	})
	c.must(t, admin, "", "rollout", "status", "daemonset/highwater-agent", "-n", "highwater", "--timeout=60s")
	expect(t, "the next agent", logs(), "another agent uses the spool")
}
