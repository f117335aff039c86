package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// killedCode is the exit code of a process that SIGKILL ended.
const killedCode = 128 + 9

// explain prints what the pod's status says of each container. killed reports whether the
// last end of one was an OOM kill.
func explain(w io.Writer, pod *corev1.Pod, a asked) (killed bool, err error) {
	told := 0
	for _, s := range append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
		if a.container != "" && s.Name != a.container {
			continue
		}
		told++
		if one := explainOne(w, pod, s, a); one {
			killed = true
		}
	}
	switch {
	case told == 0 && a.container != "":
		return false, fmt.Errorf("pod %s has no container %s that ran", pod.Name, a.container)
	case told == 0:
		fmt.Fprintf(w, "No container of pod %s/%s has run yet: it is %s.\n", pod.Namespace, pod.Name, strings.ToLower(string(pod.Status.Phase)))
	}
	return killed, nil
}

// lastEnd is how a container ended last; nil: it did not.
func lastEnd(s corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	return cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated)
}

func explainOne(w io.Writer, pod *corev1.Pod, s corev1.ContainerStatus, a asked) (killed bool) {
	c := containerOf(pod, s.Name)
	end := lastEnd(s)
	fmt.Fprintf(w, "%s of pod %s/%s %s\n", s.Name, pod.Namespace, pod.Name, endOf(end, s.RestartCount))
	if c == nil {
		return false
	}
	limit := c.Resources.Limits.Memory()
	fmt.Fprintf(w, "  limit       %s\n", limitOf(pod, limit))
	fmt.Fprintf(w, "  GOMEMLIMIT  %s\n", goMemLimit(c, limit))
	killed = end != nil && end.Reason == "OOMKilled"
	switch {
	case killed:
		fmt.Fprint(w, "  why         Kubernetes does not know: the memory is gone. Record the next kill:\n")
	case end != nil && end.ExitCode == killedCode:
		fmt.Fprint(w, "  why         Killed by SIGKILL. Kubernetes does not call it an OOM kill: a limit of the pod, a failed\n"+
			"              liveness probe, or the end of its grace period can be behind it. Watch it:\n")
	default:
		fmt.Fprint(w, "  now         To see where its memory is:\n")
	}
	if s.State.Running != nil || killed {
		fmt.Fprintf(w, "    %s\n", debugCommand(pod, c, a))
	}
	if killed {
		fmt.Fprint(w, "  Or run it under highwater from its start: docs/kubernetes/entrypoint.yaml\n")
	}
	return killed
}

// endOf is a container's last end in words.
func endOf(end *corev1.ContainerStateTerminated, restarts int32) string {
	if end == nil {
		return "has not ended yet."
	}
	how := fmt.Sprintf("ended with exit code %d", end.ExitCode)
	switch {
	case end.Reason == "OOMKilled":
		how = "was OOM-killed"
	case end.ExitCode == killedCode:
		how = "was killed"
	}
	if ran := end.FinishedAt.Sub(end.StartedAt.Time); !end.StartedAt.IsZero() && ran >= 0 {
		how += " after " + ran.Round(time.Second).String()
	}
	if !end.FinishedAt.IsZero() {
		how += ", at " + end.FinishedAt.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	switch restarts {
	case 0:
		return how + "."
	case 1:
		return how + "; restarted once."
	}
	return fmt.Sprintf("%s; restarted %d times.", how, restarts)
}

func containerOf(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// limitOf says which limits the specification has; the node's own and those of a slice are not in it.
func limitOf(pod *corev1.Pod, limit *resource.Quantity) string {
	text := "none of its own: the node's memory is its limit"
	if !limit.IsZero() {
		text = limit.String() + " of its own"
	}
	if r := pod.Spec.Resources; r != nil && !r.Limits.Memory().IsZero() {
		text += ", " + r.Limits.Memory().String() + " of the pod"
	}
	return text
}

// goMemLimit says what the container's specification sets. What an image or a ConfigMap sets is not known here.
func goMemLimit(c *corev1.Container, limit *resource.Quantity) string {
	for _, e := range c.Env {
		if e.Name != "GOMEMLIMIT" {
			continue
		}
		if e.ValueFrom == nil {
			return e.Value
		}
		if ref := e.ValueFrom.ResourceFieldRef; ref != nil {
			if ref.Resource == "limits.memory" {
				return "the limit itself: nothing is left for what Go does not count"
			}
			return fmt.Sprintf("%s (%s)", ref.Resource, c.Resources.Requests.Memory())
		}
		return "from elsewhere"
	}
	if len(c.EnvFrom) > 0 {
		return "not known: the environment comes from elsewhere"
	}
	if limit.IsZero() {
		return "not set"
	}
	return "not set: GC does not know of the limit"
}

// debugCommand is the command that watches the container with the least rights: its own user.
func debugCommand(pod *corev1.Pod, c *corev1.Container, a asked) string {
	words := []string{"kubectl"}
	if a.context != "" {
		words = append(words, "--context", a.context)
	}
	if a.kubeconfig != "" {
		words = append(words, "--kubeconfig", a.kubeconfig)
	}
	words = append(words, "-n", pod.Namespace, "debug", pod.Name, "--image="+a.image, "--target="+c.Name, "--profile=restricted", "--custom=as-user.yaml",
		"--attach", "--", "/bin/highwater", "watch", "--all")
	for i, word := range words {
		words[i] = shell(word)
	}
	return strings.Join(words, " ")
}

// shell quotes a word that a shell would read as more than itself.
func shell(word string) string {
	plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:@,+") == ""
	if word != "" && plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
