package container

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAGroupHasAShortName(t *testing.T) {
	id := strings.Repeat("3f4e5d6c7b8a9012", 4)
	for path, want := range map[string]string{
		"/system.slice/checkout.service":         "checkout",
		"/docker/" + id:                          "3f4e5d6c7b8a",
		"/machine.slice/libpod-" + id + ".scope": "libpod-3f4e5d6c7b8a",
		"/jobs/nightly":                          "nightly",
	} {
		if got := ShortName(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// The paths are those that the engines' documentation and source show.
func TestContainersAreFoundByTheirPath(t *testing.T) {
	id := strings.Repeat("3f4e5d6c7b8a9012", 4)
	for name, path := range map[string]string{
		"docker":                     "docker/" + id,
		"docker by systemd":          "system.slice/docker-" + id + ".scope",
		"containerd":                 "kubepods/burstable/pod8a1b/" + id,
		"containerd by systemd":      "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod8a1b.slice/cri-containerd-" + id + ".scope",
		"containerd without a shim":  "kubepods-burstable-pod8a1b.slice:cri-containerd:" + id,
		"CRI-O":                      "kubepods/besteffort/pod8a1b/crio-" + id,
		"CRI-O by systemd":           "kubepods.slice/kubepods-pod8a1b.slice/crio-" + id + ".scope/container",
		"podman":                     "libpod_parent/libpod-" + id,
		"podman by systemd":          "machine.slice/libpod-" + id + ".scope/container",
		"podman without root":        "user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id + ".scope",
		"nerdctl":                    "system.slice/nerdctl-" + id + ".scope",
		"docker in a docker":         "docker/" + strings.Repeat("ab", 32) + "/docker/" + id,
		"beside its monitor, conmon": "machine.slice/libpod-" + id + ".scope",
	} {
		t.Run(name, func(t *testing.T) {
			mount := t.TempDir()
			for _, dir := range []string{path, "machine.slice/libpod-conmon-" + id + ".scope", "system.slice/cron.service", "init.scope"} {
				if err := os.MkdirAll(filepath.Join(mount, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			want := filepath.Join(mount, path[:strings.Index(path, id)+len(id)])
			if rest := path[strings.Index(path, id)+len(id):]; strings.HasPrefix(rest, ".scope") {
				want += ".scope"
			}
			for _, asked := range []string{id, id[:12], id[:4], "containerd://" + id} {
				found, err := Machine{t.TempDir(), mount}.Find(asked)
				if name == "docker in a docker" && len(found) == 0 {
					continue // the outer one hides what is in it
				}
				if err != nil || len(found) != 1 || found[0].Path != want {
					t.Errorf("%s: %v, %v; want %s", asked, found, err, want)
				}
			}
		})
	}
	for _, bad := range []string{"", "../../etc", "a b"} {
		if found, err := (Machine{t.TempDir(), t.TempDir()}).Find(bad); err == nil {
			t.Errorf("%q: %v", bad, found)
		}
	}
}
