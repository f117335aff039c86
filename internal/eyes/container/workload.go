package container

import "strings"

// podLetters are those of the random parts of pods' names (k8s.io/apimachinery,
// pkg/util/rand): no vowels, so that no words come about.
const podLetters = "bcdfghjklmnpqrstvwxz2456789"

// Workload is what made a pod, by the pod's name: a Deployment's "checkout-7d9f8b6c5d-x2x4z"
// and a DaemonSet's "checkout-x2x4z" are "checkout", and a StatefulSet's "checkout-0" too. A
// name that has no such end is a pod of its own.
func Workload(pod string) string {
	base, last, ok := cutLast(pod)
	if !ok {
		return pod
	}
	if strings.Trim(last, "0123456789") == "" && last != "" {
		return base
	}
	if len(last) != 5 || strings.Trim(last, podLetters) != "" {
		return pod
	}
	// A ReplicaSet's hash has 1 to 10 of the letters: pod-template-hash, rand.SafeEncodeString.
	if more, hash, ok := cutLast(base); ok && len(hash) >= 8 && len(hash) <= 10 && strings.Trim(hash, podLetters) == "" {
		return more
	}
	return base
}

// cutLast cuts a name before its last dash.
func cutLast(name string) (before, after string, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}
