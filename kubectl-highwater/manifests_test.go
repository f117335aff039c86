package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const manifests = "../docs/kubernetes"

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(manifests, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// commandOf is the first indented command of a page that begins so, as words: pages quote none.
func commandOf(t *testing.T, page, begins string) []string {
	t.Helper()
	for line := range strings.Lines(string(read(t, page))) {
		if command, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    "); indented && strings.HasPrefix(command, begins) {
			return strings.Fields(command)
		}
	}
	t.Fatalf("%s has no command %s", page, begins)
	return nil
}

func TestEveryManifestIsOfTheSchema(t *testing.T) {
	kinds := map[string]any{"entrypoint.yaml": &appsv1.Deployment{}, "sidecar.yaml": &appsv1.Deployment{}, "role.yaml": &rbacv1.Role{},
		"as-user.yaml": &corev1.EphemeralContainerCommon{}}
	paths, err := filepath.Glob(filepath.Join(manifests, "*.yaml"))
	if err != nil || len(paths) != len(kinds) {
		t.Fatalf("%v, %v: want %d manifests", paths, err, len(kinds))
	}
	for name, into := range kinds {
		if err := yaml.UnmarshalStrict(read(t, name), into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := bytes.Replace(read(t, "sidecar.yaml"), []byte("shareProcessNamespace"), []byte("shareProcesses"), 1)
	if yaml.UnmarshalStrict(wrong, &appsv1.Deployment{}) == nil {
		t.Error("a field that there is not is taken")
	}
}

// What "kubectl highwater" says of pods as the API server hands them out.
func TestWhatIsKnownOfAnEndIsSaidAndNoMore(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	ended := func(reason string, code int32) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code, FinishedAt: at, StartedAt: metav1.NewTime(at.Add(-time.Minute))}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for name, c := range map[string]struct {
		container corev1.Container
		status    corev1.ContainerStatus
		killed    bool
		says      []string
		never     string
	}{
		"an OOM kill, and nothing set": {status: corev1.ContainerStatus{State: running,
			LastTerminationState: corev1.ContainerState{Terminated: ended("OOMKilled", 137)}, RestartCount: 1}, killed: true,
			says: []string{"was OOM-killed after 1m0s, at 2026-01-02 03:04:05 UTC; restarted once.", "the node's memory is its limit", "GOMEMLIMIT  not set\n",
				"Kubernetes does not know", "--target=web"}},
		"a kill that Kubernetes does not explain": {status: corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{Terminated: ended("Error", 137)}},
			says: []string{"was killed after", "does not call it an OOM kill"}, never: "OOM-killed"},
		"an error": {status: corev1.ContainerStatus{State: running, LastTerminationState: corev1.ContainerState{Terminated: ended("Error", 2)}},
			says: []string{"ended with exit code 2", "where its memory is"}, never: "killed"},
		"none, and GOMEMLIMIT is the limit": {
			container: corev1.Container{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}},
				Env: []corev1.EnvVar{{Name: "GOMEMLIMIT", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory"}}}}},
			status: corev1.ContainerStatus{State: running}, says: []string{"has not ended yet", "64Mi of its own", "nothing is left for what Go does not count"}},
		"a limit that GC does not know": {
			container: corev1.Container{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}},
			status:    corev1.ContainerStatus{State: running}, says: []string{"not set: GC does not know of the limit"}},
		"an environment from elsewhere": {container: corev1.Container{EnvFrom: []corev1.EnvFromSource{{}}}, status: corev1.ContainerStatus{State: running},
			says: []string{"GOMEMLIMIT  not known"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.container.Name, c.status.Name = "web", "web"
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "shop-0", Namespace: "shop"}, Spec: corev1.PodSpec{Containers: []corev1.Container{c.container}},
				Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c.status}}}
			var out strings.Builder
			killed, err := explain(&out, pod, asked{image: defaultImage})
			if err != nil || killed != c.killed {
				t.Errorf("killed %v, %v", killed, err)
			}
			for _, want := range c.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in:\n%s", want, out.String())
				}
			}
			if c.never != "" && strings.Contains(out.String(), c.never) {
				t.Errorf("%q is in:\n%s", c.never, out.String())
			}
		})
	}
}

func TestACommandLineThatCannotBeMeantIsRefused(t *testing.T) {
	for _, args := range [][]string{{}, {"a", "b"}, {"--no-such-flag", "a"}, {"a", "--kubeconfig", "/nonexistent"}} {
		var out, errs strings.Builder
		if code := run(args, &out, &errs); code != exitTrouble || errs.Len() == 0 {
			t.Errorf("%q: code %d, %q", args, code, errs.String())
		}
	}
	if a, err := parse([]string{"pod/shop-0", "-n", "x", "-c", "web"}, &strings.Builder{}); err != nil || a.pod != "shop-0" || a.namespace != "x" ||
		a.container != "web" {
		t.Errorf("%+v, %v", a, err)
	}
}
