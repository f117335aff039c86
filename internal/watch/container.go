package watch

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/highwater-go/highwater/internal/cgroup"
)

// shortestID is how much of a container's id its engine shows, and minID how
// much of it must be given.
const (
	shortestID = 12
	minID      = 4
)

// FindContainer gives the paths of the cgroups of the containers whose id begins
// so, as their engine wrote it in the path: no engine is asked. A kubelet's
// "containerd://" before it is left out.
func FindContainer(h *cgroup.Hierarchy, id string) ([]string, error) {
	if _, rest, ok := strings.Cut(id, "://"); ok {
		id = rest
	}
	if len(id) < minID || !isHex(id) {
		return nil, fmt.Errorf("%q is no container id: hexadecimal, %d digits at least", id, minID)
	}
	var found []string
	err := filepath.WalkDir(h.Mount, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() {
				return filepath.SkipDir // gone, or not ours to see
			}
			return nil
		}
		if d.IsDir() && strings.HasPrefix(containerID(d.Name()), id) {
			found = append(found, path)
			return filepath.SkipDir // a nested one belongs to it
		}
		return nil
	})
	return found, err
}

// containerID is the id in a cgroup's name, "" where there is none. Engines name
// cgroups so, with the id in 64 hexadecimal digits:
//
//	docker       /docker/ID                 /system.slice/docker-ID.scope
//	containerd   /kubepods/.../podUID/ID    /kubepods.slice/.../cri-containerd-ID.scope
//	CRI-O        /kubepods/.../crio-ID      /kubepods.slice/.../crio-ID.scope
//	podman       /libpod_parent/libpod-ID   /machine.slice/libpod-ID.scope/container
//	nerdctl      /default/ID                /system.slice/nerdctl-ID.scope
//
// The cgroup of conmon, which podman and CRI-O keep beside a container, is none.
func containerID(name string) string {
	name = strings.TrimSuffix(name, ".scope")
	if strings.Contains(name, "conmon") {
		return ""
	}
	id := name[strings.LastIndexAny(name, "-_:")+1:]
	if len(id) < shortestID || !isHex(id) {
		return ""
	}
	return id
}

// GroupName is a short name for a cgroup: "checkout" of a service, and a
// container's with the part of its id that engines show, "docker-3f4e5d6c7b8a".
func GroupName(path string) string {
	name := filepath.Base(path)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if id := containerID(name); id != "" {
		name = strings.TrimSuffix(name, id) + id[:shortestID]
	}
	return name
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
