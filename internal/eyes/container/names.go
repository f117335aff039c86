package container

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/files/regular"
)

// mostState bounds a state file: Docker's and a bundle's have some 10 KB.
const mostState = 4 << 20

// longestName bounds names: Kubernetes allows 253 bytes (RFC 1123).
const longestName = 253

// names are the containers that the machine's files tell of, by id, without their
// cgroups; owners are who owns the cgroups of containers, by id.
func (m Machine) names(owners map[string]int) map[string]Container {
	all := map[string]Container{}
	add := func(id string, c Container) {
		if id == "" || max(len(c.Name), len(c.Pod), len(c.Namespace), len(c.PodUID)) > longestName {
			return
		}
		known := all[id]
		known.fill(c)
		all[id] = known
	}
	m.kubeletLogs(add)
	m.dockerStates(add)
	m.bundles(add)
	m.monitors(owners, add)
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
//
// Every user can call a process so. It is believed what root's say and the reader's own, and of a container what
// that user's say who owns its cgroup. No other is asked: a command line lies in its process's memory.
func (m Machine) monitors(owners map[string]int, add func(string, Container)) {
	for _, pid := range m.called("conmon") {
		user, err := m.userOf(pid)
		trusted := user == 0 || user == os.Geteuid()
		if err != nil || !trusted && !slices.Contains(slices.Collect(maps.Values(owners)), user) {
			continue
		}
		args, err := commandLine(filepath.Join(m.Root, "proc", pid, "cmdline"))
		if errors.Is(err, errStuck) {
			return // of who makes one wait there may be many
		}
		after := func(flag string) string {
			if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
				return args[i+1]
			}
			return ""
		}
		id := after("-c")
		if owner, owned := owners[id]; !trusted && (!owned || owner != user) {
			continue
		}
		c := Container{}
		if bundle := after("-b"); filepath.IsAbs(bundle) {
			c = ofBundle(filepath.Join(m.Root, bundle, "config.json"))
		}
		c.fill(Container{Name: after("-n")})
		add(id, c)
	}
}

// called are the processes whose names the kernel has so.
func (m Machine) called(name string) (pids []string) {
	files, _ := filepath.Glob(filepath.Join(m.Root, "proc/[0-9]*/comm"))
	for _, file := range files {
		if comm, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(comm)) == name {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// userOf is the real user id of a process (proc_pid_status(5)): the owner of its directory is root where it cannot be
// dumped, which it can choose.
func (m Machine) userOf(pid string) (int, error) {
	status, err := os.ReadFile(filepath.Join(m.Root, "proc", pid, "status"))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "\nUid:")
	words := strings.Fields(after)
	if len(words) == 0 {
		return 0, errors.New("its status has no user")
	}
	return strconv.Atoi(words[0])
}

var errStuck = errors.New("a command line that does not come")

// commandLine is that of a process, whose memory may be what never answers: FUSE's, or userfaultfd's.
func commandLine(path string) ([]string, error) {
	const most = 64 << 10
	type answer struct {
		text []byte
		err  error
	}
	came := make(chan answer, 1)
	go func() {
		f, err := os.Open(path)
		if err != nil {
			came <- answer{err: err}
			return
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, most))
		came <- answer{text, err}
	}()
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case a := <-came:
		return strings.Split(string(a.text), "\x00"), a.err
	case <-timer.C:
		return nil, errStuck
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
