// Package container knows containers, pods and units by the cgroups that they are in:
// how engines name these, and what the files say that engines and the kubelet leave on a
// machine. It asks no daemon, and needs no socket.
//
// Docker, containerd, CRI-O and Podman write a container's id into the path of its
// cgroup, the kubelet a pod's uid, systemd a unit's name. An id alone says little to
// people: the name, pod and namespace come from files, see names.go.
//
// It reads no cgroup, which is package cgroup's.
package container

import (
	"path/filepath"
	"strings"
)

// Container is a container as the machine it runs on shows it. What is not known is "".
type Container struct {
	ID        string // 64 hexadecimal digits
	Name      string // as its engine calls it; in a pod its name there
	Pod       string
	Namespace string // of the pod
	PodUID    string
	Path      string // directory of its cgroup
}

// String names it for people: "web of pod default/shop-0", or the id's beginning.
func (c Container) String() string {
	name := c.Name
	if name == "" && c.ID != "" {
		name = c.ID[:shortestID]
	}
	if c.Pod != "" {
		name += " of pod " + strings.TrimPrefix(c.Namespace+"/"+c.Pod, "/")
	}
	return name
}

// Kind is what a cgroup belongs to.
type Kind string

// The kinds.
const (
	OfContainer Kind = "container"
	OfPod       Kind = "pod"
	OfService   Kind = "service"
	OfSlice     Kind = "slice"
	OfScope     Kind = "scope"
	OfNothing   Kind = "cgroup" // of which nothing is known
)

// KindOf says what the cgroup of a path belongs to. The root of a cgroup namespace, "/",
// is a container's, as that of the machine has no limit.
func KindOf(path string) Kind {
	base := filepath.Base(path)
	switch {
	case path == "/" || IDOf(path) != "":
		return OfContainer
	case podUID(base) != "" || strings.Contains(base, "libpod_pod_"):
		return OfPod
	}
	switch filepath.Ext(base) {
	case ".service":
		return OfService
	case ".slice":
		return OfSlice
	case ".scope":
		return OfScope
	}
	return OfNothing
}

// wholeID is how long a container's id is, shortestID how much of it its engine shows,
// and minID how much of it must be given.
const (
	wholeID    = 64
	shortestID = 12
	minID      = 4
)

// IDOf is the id of the container that a cgroup belongs to, "" for none: of the innermost,
// where one runs in another.
func IDOf(path string) string {
	for ; path != "/" && path != "." && path != ""; path = filepath.Dir(path) {
		base := filepath.Base(path)
		if podUID(base) != "" || strings.Contains(base, "libpod_pod_") {
			return ""
		}
		if id := idOf(base); id != "" {
			return id
		}
	}
	return ""
}

// idOf is the id in a cgroup's name, "" where there is none. Engines name
// cgroups so, with the id in 64 hexadecimal digits:
//
//	docker       /docker/ID                 /system.slice/docker-ID.scope
//	containerd   /kubepods/.../podUID/ID    /kubepods.slice/.../cri-containerd-ID.scope
//	CRI-O        /kubepods/.../crio-ID      /kubepods.slice/.../crio-ID.scope
//	podman       /libpod_parent/libpod-ID   /machine.slice/libpod-ID.scope/container
//	nerdctl      /default/ID                /system.slice/nerdctl-ID.scope
//
// The cgroup of conmon, which podman and CRI-O keep beside a container, is none.
func idOf(name string) string {
	name = strings.TrimSuffix(name, ".scope")
	if strings.Contains(name, "conmon") {
		return ""
	}
	id := name[strings.LastIndexAny(name, "-_:")+1:]
	if len(id) != wholeID || !isHex(id) {
		return ""
	}
	return id
}

// podUID is the uid of a pod in a cgroup's name, as the kubelet writes it: "podUID", or
// "kubepods-burstable-podUID.slice" with _ for -; "" where there is none.
func podUID(name string) string {
	name, slice := strings.CutSuffix(name, ".slice")
	at := 0
	if slice {
		if at = strings.LastIndex(name, "-pod") + 1; at == 0 || !strings.HasPrefix(name, "kubepods") {
			return ""
		}
	}
	uid, ok := strings.CutPrefix(name[at:], "pod")
	uid = strings.ReplaceAll(uid, "_", "-")
	if !ok || len(uid) < minID || strings.Trim(uid, "0123456789abcdef-") != "" {
		return ""
	}
	return uid
}

// ShortName is a short name for a cgroup: "checkout" of a service, and a
// container's with the part of its id that engines show, "docker-3f4e5d6c7b8a".
func ShortName(path string) string {
	name := filepath.Base(path)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if id := idOf(name); id != "" {
		name = strings.TrimSuffix(name, id) + id[:shortestID]
	}
	return name
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
