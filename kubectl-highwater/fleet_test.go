package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// clusterOf is the kubeconfig of an API server that has the pod shop-0 and no other.
func clusterOf(t *testing.T) string {
	t.Helper()
	pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "shop-0", Namespace: "shop"},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "web"}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "web", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/api/v1/namespaces/shop/pods/shop-0" {
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure",
				Reason: metav1.StatusReasonNotFound, Code: 404})
			return
		}
		_ = json.NewEncoder(w).Encode(pod)
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "config")
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", Namespace: "shop"}
	config.CurrentContext = "c"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// The store is asked of a pod, also of one that is gone; its absence is said, and changes
// nothing else.
func TestTheStoreIsAskedOfAPod(t *testing.T) {
	kubeconfig, bin := clusterOf(t), t.TempDir()
	tool := filepath.Join(bin, "highwater")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho \"asked: $*\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ask := func(pod string) (string, string, int) {
		var out, wrong strings.Builder
		code := run([]string{pod, "--kubeconfig", kubeconfig}, &out, &wrong)
		return out.String(), wrong.String(), code
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	if out, _, code := ask("shop-0"); code != 0 || strings.Contains(out, "asked") || !strings.Contains(out, "web of pod shop/shop-0") {
		t.Errorf("without a store: %d, %s", code, out)
	}
	t.Setenv(storeVariable, "file:///of/the/fleet")
	if out, _, code := ask("shop-0"); code != 0 || !strings.Contains(out, "asked: fleet incidents --pod=shop-0 --namespace=shop --since=4w") {
		t.Errorf("with one: %d, %s", code, out)
	}
	if out, wrong, code := ask("shop-1"); code != exitTrouble || !strings.Contains(wrong, "there is no pod shop-1") || !strings.Contains(out, "--pod=shop-1") {
		t.Errorf("of a pod that is gone: %d, %s, %s", code, out, wrong)
	}
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho 'highwater: no way to the store' >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, _, code := ask("shop-0"); code != 0 || !strings.Contains(out, "the store was not asked: highwater: no way to the store") {
		t.Errorf("with a store that is away: %d, %s", code, out)
	}
	t.Setenv("PATH", "/nonexistent")
	if out, _, code := ask("shop-0"); code != 0 || !strings.Contains(out, "no highwater is on the PATH") {
		t.Errorf("without highwater: %d, %s", code, out)
	}
}
