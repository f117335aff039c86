package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// cluster is a real API server with etcd behind it, and without nodes: pods are stored and
// never run.
type cluster struct {
	bin, dir, server string
	enter            []string // a command before that of each server; nil for none
}

// Tokens of the users, who are named like them.
const (
	admin    = "admin"
	engineer = "engineer" // has the role of docs/kubernetes/role.yaml in namespace shop
	stranger = "stranger" // has none
)

// start starts the servers of HIGHWATER_KUBERNETES, the directory that node/fetch.sh prints,
// until the test ends.
func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{bin: os.Getenv("HIGHWATER_KUBERNETES"), dir: t.TempDir()}
	if c.bin == "" {
		t.Skip("SKIP-REASON: needs kube-apiserver and etcd: make kube builds and uses them")
	}
	etcd, peer, api := freePort(t), freePort(t), freePort(t)
	key, tokens := filepath.Join(c.dir, "key"), filepath.Join(c.dir, "tokens")
	writeKey(t, key)
	write(t, tokens, fmt.Sprintf("%[1]s,%[1]s,1,system:masters\n%[2]s,%[2]s,2\n%[3]s,%[3]s,3\n", admin, engineer, stranger))
	c.server = "https://127.0.0.1:" + api
	c.background(t, "etcd", "--data-dir", filepath.Join(c.dir, "etcd"), "--listen-client-urls", "http://127.0.0.1:"+etcd, "--advertise-client-urls",
		"http://127.0.0.1:"+etcd,
		"--listen-peer-urls", "http://127.0.0.1:"+peer, "--initial-advertise-peer-urls", "http://127.0.0.1:"+peer, "--initial-cluster",
		"default=http://127.0.0.1:"+peer)
	c.background(t, "kube-apiserver", "--etcd-servers", "http://127.0.0.1:"+etcd, "--bind-address", "127.0.0.1", "--secure-port", api, "--advertise-address",
		"192.0.2.1",
		"--cert-dir", filepath.Join(c.dir, "certs"), "--token-auth-file", tokens, "--authorization-mode", "RBAC", "--allow-privileged",
		"--kubelet-preferred-address-types", "Hostname", "--disable-admission-plugins", "ServiceAccount",
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", key, "--service-account-signing-key-file", key,
		"--service-cluster-ip-range", "10.0.0.0/24")
	c.await(t)
	for _, user := range []string{admin, engineer, stranger} {
		write(t, c.config(user), fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: shop,
  clusters: [{name: test, cluster: {server: %q, insecure-skip-tls-verify: true}}],
  contexts: [{name: shop, context: {cluster: test, user: %[2]s, namespace: shop}}],
  users: [{name: %[2]s, user: {token: %[2]s}}]}`, c.server, user))
	}
	return c
}

func (c *cluster) config(user string) string { return filepath.Join(c.dir, user+".kubeconfig") }

func (c *cluster) background(t *testing.T, name string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	words := slices.Concat(c.enter, []string{filepath.Join(c.bin, name)}, args)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second // of a server that another command started, nodeDir ends it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s: ... %s", name, said.Bytes()[max(0, said.Len()-2000):])
		}
	})
}

// await waits until the API server says that it is ready, for three minutes at most.
func (c *cluster) await(t *testing.T) {
	t.Helper()
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); <-tick.C {
		r, err := client.Get(c.server + "/readyz")
		if err != nil {
			continue
		}
		r.Body.Close()
		if r.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatal("the API server does not get ready")
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func writeKey(t *testing.T, path string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// kubectl runs as a user, with a text as its input, in docs/kubernetes, and gives its exit code and all that it printed.
func (c *cluster) kubectl(t *testing.T, user, input string, args ...string) (int, string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(c.bin, "kubectl"), args...)
	cmd.Dir, cmd.Stdin = manifests, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.config(user), "HOME="+c.dir, "PATH="+c.dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (c *cluster) must(t *testing.T, user, input string, args ...string) string {
	t.Helper()
	code, out := c.kubectl(t, user, input, args...)
	if code != 0 {
		t.Fatalf("kubectl %s: %d: %s", strings.Join(args, " "), code, out)
	}
	return out
}

// podOf is the pod that a deployment's template makes.
func podOf(t *testing.T, name string) corev1.Pod {
	t.Helper()
	var d struct {
		Spec struct{ Template corev1.PodTemplateSpec }
	}
	if err := yaml.Unmarshal(read(t, name), &d); err != nil {
		t.Fatal(err)
	}
	template := d.Spec.Template
	return corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "shop-0", Labels: template.Labels},
		Spec: template.Spec}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const restricted = `{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted}}}`

func TestARealAPIServerTakesTheManifestsAndTheLeastRights(t *testing.T) {
	c := start(t)
	c.must(t, admin, restricted, "create", "-f", "-")
	c.must(t, admin, "", "apply", "-f", "role.yaml")
	c.must(t, admin, "", "create", "rolebinding", "explain", "--role=highwater-explain", "--user="+engineer)
	for _, name := range []string{"entrypoint.yaml", "sidecar.yaml"} {
		if out := c.must(t, admin, "", "apply", "--dry-run=server", "--validate=strict", "-f", name); strings.Contains(out, "Warning") {
			t.Errorf("%s: %s", name, out)
		}
		// Pod Security refuses pods, and warns of templates alone.
		c.must(t, admin, text(t, podOf(t, name)), "create", "--dry-run=server", "-f", "-")
	}
	privileged := podOf(t, "sidecar.yaml")
	privileged.Spec.Containers[1].SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_PTRACE"}
	if code, out := c.kubectl(t, admin, text(t, privileged), "create", "--dry-run=server", "-f", "-"); code == 0 ||
		!strings.Contains(out, "violates PodSecurity") {
		t.Errorf("a sidecar with more rights: %d: %s", code, out)
	}
	c.must(t, admin, text(t, podOf(t, "entrypoint.yaml")), "create", "-f", "-")
	t.Run("an ephemeral container", func(t *testing.T) { c.debugs(t) })
	t.Run("the plugin", func(t *testing.T) { c.explains(t) })
}

// debugs runs the command of docs/kubernetes/ephemeral.md, but does not wait for a node to run it.
func (c *cluster) debugs(t *testing.T) {
	args := commandOf(t, "ephemeral.md", "kubectl debug")
	args = strings.Fields(strings.Replace(strings.Join(args[1:], " "), " --attach", "", 1))
	if code, out := c.kubectl(t, stranger, "", args...); code == 0 || !strings.Contains(out, "forbidden") {
		t.Errorf("without the role: %d: %s", code, out)
	}
	c.must(t, engineer, "", args...)
	var pod corev1.Pod
	if err := yaml.Unmarshal([]byte(c.must(t, engineer, "", "get", "pod", "shop-0", "-o", "yaml")), &pod); err != nil {
		t.Fatal(err)
	}
	if len(pod.Spec.EphemeralContainers) != 1 {
		t.Fatalf("%d ephemeral containers", len(pod.Spec.EphemeralContainers))
	}
	e := pod.Spec.EphemeralContainers[0]
	if s := e.SecurityContext; e.TargetContainerName != "web" || s == nil || s.RunAsUser == nil || *s.RunAsUser != 1000 || s.Capabilities == nil ||
		len(s.Capabilities.Add) > 0 || e.Command[0] != "/bin/highwater" {
		t.Errorf("%s", text(t, e))
	}
	sysadmin := strings.Fields(strings.Replace(strings.Join(args, " "), "--profile=restricted --custom=as-user.yaml", "--profile=sysadmin", 1))
	if code, out := c.kubectl(t, engineer, "", sysadmin...); code == 0 || !strings.Contains(out, "violates PodSecurity") {
		t.Errorf("with all rights: %d: %s", code, out)
	}
}

// explains calls the plugin by kubectl, with the status that a kubelet writes.
func (c *cluster) explains(t *testing.T) {
	build := exec.Command("go", "build", "-o", filepath.Join(c.dir, "kubectl-highwater"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if code, out := c.kubectl(t, engineer, "", "highwater", "shop-0"); code != 0 || !strings.Contains(out, "No container of pod shop/shop-0 has run yet") {
		t.Errorf("before it runs: %d: %s", code, out)
	}
	c.must(t, admin, "", "patch", "pod", "shop-0", "--subresource=status", "--type=merge", "-p",
		`{"status": {"phase": "Running", "containerStatuses": [{"name": "web", "image": "i", "imageID": "i", "restartCount": 3, "ready": true,
		"state": {"running": {"startedAt": "2026-01-02T03:05:00Z"}},
		"lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-01-02T03:00:00Z", "finishedAt": "2026-01-02T03:04:05Z"}}}]}}`)
	code, out := c.kubectl(t, engineer, "", "highwater", "shop-0")
	for _, want := range []string{"web of pod shop/shop-0 was OOM-killed after 4m5s, at 2026-01-02 03:04:05 UTC; restarted 3 times.", "512Mi of its own",
		"requests.memory (448Mi)", "debug shop-0 --image="} {
		if code != exitKilled || !strings.Contains(out, want) {
			t.Errorf("%d, want %q:\n%s", code, want, out)
		}
	}
	if code, out := c.kubectl(t, stranger, "", "highwater", "shop-0"); code != exitTrouble || !strings.Contains(out, "needs the verb get") {
		t.Errorf("without the role: %d: %s", code, out)
	}
	if code, out := c.kubectl(t, engineer, "", "highwater", "gone"); code != exitTrouble || !strings.Contains(out, "there is no pod gone") {
		t.Errorf("of no pod: %d: %s", code, out)
	}
}
