package main

import (
	"bytes"
	"os"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// The agent's manifests are of the schema, and ask for what docs/fleet.md says and no more.
func TestTheAgentAsksForLittle(t *testing.T) {
	b, err := os.ReadFile(agentManifest)
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	var set appsv1.DaemonSet
	kinds := []any{&corev1.Namespace{}, &corev1.ServiceAccount{}, &role, &rbacv1.ClusterRoleBinding{}, &set}
	parts := bytes.Split(b, []byte("\n---\n"))
	if len(parts) != len(kinds) {
		t.Fatalf("%d documents", len(parts))
	}
	for i, part := range parts {
		if err := yaml.UnmarshalStrict(part, kinds[i]); err != nil {
			t.Errorf("document %d: %v", i, err)
		}
	}
	if len(role.Rules) != 1 || !slices.Equal(role.Rules[0].Resources, []string{"events"}) || !slices.Equal(role.Rules[0].Verbs, []string{"create"}) {
		t.Errorf("rights in the API: %+v", role.Rules)
	}
	pod := set.Spec.Template.Spec
	if pod.HostNetwork || pod.HostIPC || !pod.HostPID || len(pod.Containers) != 1 {
		t.Errorf("%+v", pod)
	}
	c := pod.Containers[0].SecurityContext
	if *c.Privileged || *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem || !slices.Equal(c.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
		!slices.Equal(c.Capabilities.Add, []corev1.Capability{"SYS_PTRACE", "DAC_READ_SEARCH"}) {
		t.Errorf("%+v", c)
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !m.ReadOnly && m.MountPath != "/var/lib/highwater" {
			t.Errorf("%s can be written to", m.MountPath)
		}
	}
}
