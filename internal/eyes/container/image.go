package container

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/files/regular"
)

// An engine keeps a process beside each container, its shim, as an ancestor of all that runs
// in it; what the engine wrote of the container is found from there, wherever the engine keeps
// its state (k3s has another place than containerd), and from inside another container too: by
// links in /proc, whose reading needs CAP_SYS_PTRACE for a process of another user.

// Bounds of the search.
const (
	mostAncestors = 64       // of a process
	longestImage  = 512      // bytes of an image's name
	mostStorage   = 64 << 20 // of containers.json, which has all containers of a machine
)

// Image is the image of a container as its engine was asked for it, of a process that runs in
// it: "registry.example/shop:1.0". It is "" where nothing tells.
func (m Machine) Image(pid int, id string) string {
	if id == "" {
		return ""
	}
	for range mostAncestors {
		pid = m.parent(pid)
		if pid <= 1 {
			return ""
		}
		if !m.beside(pid, id) {
			continue
		}
		if name := m.imageBy(pid, id); name != "" && len(name) <= longestImage {
			return name
		}
	}
	return ""
}

func (m Machine) file(pid int, name string) string {
	return filepath.Join(m.Root, "proc", strconv.Itoa(pid), name)
}

// parent is the parent of a process, 0 where that is not known (proc_pid_stat(5): the command
// is in brackets, and may have some itself).
func (m Machine) parent(pid int) int {
	stat, err := os.ReadFile(m.file(pid, "stat"))
	if err != nil {
		return 0
	}
	words := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(words) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(words[1])) // 0: it cannot be read
	return parent
}

// beside says that a process is not in the container itself, where any program may take any
// name, and is root's or the reader's own.
func (m Machine) beside(pid int, id string) bool {
	user, err := m.userOf(strconv.Itoa(pid))
	if err != nil || user != 0 && user != os.Geteuid() {
		return false
	}
	groups, err := os.ReadFile(m.file(pid, "cgroup"))
	return err == nil && !slices.ContainsFunc(strings.Split(string(groups), "\n"), func(line string) bool {
		part := strings.SplitN(line, ":", 3)
		return len(part) == 3 && IDOf(part[2]) == id
	})
}

// imageBy is what a shim leads to.
func (m Machine) imageBy(pid int, id string) string {
	comm, _ := os.ReadFile(m.file(pid, "comm")) // "" is none
	root := m.file(pid, "root")
	switch name := strings.TrimSpace(string(comm)); {
	case strings.HasPrefix(name, "containerd-shim"): // cut to 15 bytes
		// It works in the bundle of the pod's first container; those of its others are beside it. The
		// kernel has to go up from there: cleaned, the path would be another.
		if image := bundleImage(m.file(pid, "cwd") + "/../" + id + "/config.json"); image != "" {
			return image
		}
		return dockerImage(filepath.Join(root, "var/lib/docker/containers", id, "config.v2.json"))
	case name == "conmon":
		args, err := commandLine(m.file(pid, "cmdline"))
		if i := slices.Index(args, "-b"); err == nil && i >= 0 && i+1 < len(args) && filepath.IsAbs(args[i+1]) {
			bundle := filepath.Join(root, args[i+1])
			if image := bundleImage(filepath.Join(bundle, "config.json")); image != "" {
				return image
			}
			return storageImage(filepath.Join(bundle, "../../containers.json"), id)
		}
	}
	return ""
}

// bundleImage reads the annotations of containerd's CRI plugin, and CRI-O's.
func bundleImage(file string) string {
	var bundle struct{ Annotations map[string]string }
	if readJSON(file, &bundle) != nil {
		return ""
	}
	for _, key := range []string{"io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName", "io.kubernetes.cri-o.Image"} {
		if name := bundle.Annotations[key]; name != "" {
			return name
		}
	}
	return ""
}

// dockerImage reads Docker's own file of a container.
func dockerImage(file string) string {
	var state struct{ Config struct{ Image string } }
	if readJSON(file, &state) != nil {
		return ""
	}
	return state.Config.Image
}

// storageImage reads the list that the storage of Podman keeps of its containers
// (go.podman.io/storage, containers.json): the metadata of each is a text of JSON.
func storageImage(file, id string) string {
	f, err := regular.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	var all []struct{ ID, Metadata string }
	if json.NewDecoder(io.LimitReader(f, mostStorage)).Decode(&all) != nil {
		return ""
	}
	for _, one := range all {
		var of struct {
			Name string `json:"image-name"`
		}
		if one.ID == id && json.Unmarshal([]byte(one.Metadata), &of) == nil {
			return of.Name
		}
	}
	return ""
}
