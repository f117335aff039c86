package container

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/regular"
)

// mostState bounds a state file: Docker's and a bundle's have some 10 KB.
const mostState = 4 << 20

// names are the containers that the machine's files tell of, by id, without their
// cgroups.
func (m Machine) names() map[string]Container {
	all := map[string]Container{}
	add := func(id string, c Container) {
		if id == "" {
			return
		}
		known := all[id]
		known.fill(c)
		all[id] = known
	}
	m.kubeletLogs(add)
	m.dockerStates(add)
	m.bundles(add)
	m.monitors(add)
	return all
}

// fill takes over what is not known.
func (c *Container) fill(more Container) {
	for _, f := range []struct{ to, from *string }{{&c.Name, &more.Name}, {&c.Pod, &more.Pod}, {&c.Namespace, &more.Namespace}, {&c.PodUID, &more.PodUID}} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
}

// kubeletLogs reads the names of the links that the kubelet makes for every container of
// every engine: /var/log/containers/POD_NAMESPACE_NAME-ID.log
// (pkg/kubelet/kuberuntime/legacy.go, legacyLogSymlink).
func (m Machine) kubeletLogs(add func(string, Container)) {
	links, _ := filepath.Glob(filepath.Join(m.Root, "var/log/containers/*.log"))
	for _, link := range links {
		part := strings.SplitN(strings.TrimSuffix(filepath.Base(link), ".log"), "_", 3)
		if len(part) != 3 {
			continue
		}
		if at := strings.LastIndex(part[2], "-"); at > 0 && isHex(part[2][at+1:]) {
			add(part[2][at+1:], Container{Name: part[2][:at], Pod: part[0], Namespace: part[1]})
		}
	}
}

// dockerStates reads Docker's own files, /var/lib/docker/containers/ID/config.v2.json.
func (m Machine) dockerStates(add func(string, Container)) {
	files, _ := filepath.Glob(filepath.Join(m.Root, "var/lib/docker/containers/*/config.v2.json"))
	for _, file := range files {
		var state struct {
			Name   string
			Config struct{ Labels map[string]string }
		}
		if readJSON(file, &state) == nil {
			c := ofLabels(state.Config.Labels)
			c.fill(Container{Name: strings.TrimPrefix(state.Name, "/")})
			add(filepath.Base(filepath.Dir(file)), c)
		}
	}
}

// bundles reads the OCI bundles of containerd and CRI-O, whose annotations name pods.
func (m Machine) bundles(add func(string, Container)) {
	for _, pattern := range []string{
		"run/containerd/io.containerd.runtime.v2.task/*/*/config.json",
		"run/containers/storage/*-containers/*/userdata/config.json",
	} {
		files, _ := filepath.Glob(filepath.Join(m.Root, pattern))
		for _, file := range files {
			dir := filepath.Dir(file)
			if filepath.Base(dir) == "userdata" {
				dir = filepath.Dir(dir)
			}
			add(filepath.Base(dir), ofBundle(file))
		}
	}
}

func ofBundle(file string) Container {
	var bundle struct{ Annotations map[string]string }
	if readJSON(file, &bundle) != nil {
		return Container{}
	}
	return ofLabels(bundle.Annotations)
}

// ofLabels reads what engines write into labels and annotations: the kubelet's for
// Docker, containerd's CRI plugin's, CRI-O's, nerdctl's.
func ofLabels(labels map[string]string) (c Container) {
	first := func(keys ...string) string {
		for _, key := range keys {
			if v := labels[key]; v != "" {
				return v
			}
		}
		return ""
	}
	return Container{
		Name:      first("io.kubernetes.cri.container-name", "io.kubernetes.container.name", "nerdctl/name"),
		Pod:       first("io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name"),
		Namespace: first("io.kubernetes.cri.sandbox-namespace", "io.kubernetes.pod.namespace"),
		PodUID:    first("io.kubernetes.cri.sandbox-uid", "io.kubernetes.pod.uid"),
	}
}

// monitors reads the command lines of conmon, which stays beside every container of
// Podman and CRI-O, wherever their storage is: conmon -c ID -n NAME -b BUNDLE.
func (m Machine) monitors(add func(string, Container)) {
	files, _ := filepath.Glob(filepath.Join(m.Root, "proc/[0-9]*/cmdline"))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		args := strings.Split(string(b), "\x00")
		if filepath.Base(args[0]) != "conmon" {
			continue
		}
		after := func(flag string) string {
			if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
				return args[i+1]
			}
			return ""
		}
		c := Container{}
		if bundle := after("-b"); filepath.IsAbs(bundle) {
			c = ofBundle(filepath.Join(m.Root, bundle, "config.json"))
		}
		c.fill(Container{Name: after("-n")})
		add(after("-c"), c)
	}
}

func readJSON(file string, into any) error {
	f, err := regular.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return json.NewDecoder(io.LimitReader(f, mostState)).Decode(into)
}
