package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/highwater-go/highwater/internal/cgroup"
	"github.com/highwater-go/highwater/internal/container"
)

// placeFlags name a cgroup to watch: one of them, or none.
type placeFlags struct {
	cgroup, container, pod, unit string
}

// addPlaces adds the flags.
func addPlaces(f *placeFlags, c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.container, "container", "", "watch the container of this `name`, POD/NAME or NAMESPACE/POD/NAME in a pod, or with this id or the beginning of one: Docker, containerd, CRI-O, Podman")
	flags.StringVar(&f.pod, "pod", "", "watch all that is in the pod of this `name`, NAMESPACE/NAME, or uid")
	flags.StringVar(&f.unit, "unit", "", "watch all that is in this `unit` of systemd: checkout.service")
	flags.StringVar(&f.cgroup, "cgroup", "", "watch all that is in this cgroup: its `path` as in /proc/PID/cgroup, or its directory")
}

// places is how many of them are given.
func (f placeFlags) places() (n int) {
	for _, given := range []string{f.cgroup, f.container, f.pod, f.unit} {
		if given != "" {
			n++
		}
	}
	return n
}

// findGroup finds the cgroup that was asked for.
func (w *watching) findGroup() (err error) {
	if w.hierarchy, err = cgroup.Detect("/"); err != nil {
		w.hierarchy = nil
	}
	switch {
	case w.places() == 0:
		return nil
	case err != nil:
		return &exitError{code: exitNotPermitted, err: err, hint: "without one, a PID can be watched"}
	case w.cgroup != "":
		w.group = w.cgroup
		return nil
	}
	w.group, err = w.find(w.machine())
	return err
}

// machine is where containers are looked for.
func (w *watching) machine() container.Machine {
	return container.Machine{Root: "/", Mount: w.hierarchy.Mount}
}

// find is the directory of the cgroup of a container, a pod or a unit.
func (w *watching) find(m container.Machine) (string, error) {
	switch {
	case w.unit != "":
		dirs, err := m.FindUnit(w.unit)
		return only(dirs, dirs, err, "unit", w.unit, "systemctl list-units shows units; give its whole name, or --cgroup with the directory of one of several")
	case w.pod != "":
		dirs, err := m.FindPod(w.pod)
		return only(dirs, dirs, err, "pod", w.pod, "crictl pods shows pods; give NAMESPACE/NAME or its uid")
	}
	found, err := m.Find(w.container)
	var dirs, names []string
	for _, c := range found {
		dirs, names = append(dirs, c.Path), append(names, c.String()+" "+c.ID[:min(len(c.ID), 12)])
	}
	return only(dirs, names, err, "container", w.container, "docker ps, podman ps and crictl ps show names and ids; from inside of a container watch a PID")
}

// only is the one directory that was found. Names say of several what they are.
func only(dirs, names []string, err error, kind, what, hint string) (string, error) {
	switch {
	case err != nil:
		return "", usagef(hint, "--%s: %w", kind, err)
	case len(dirs) == 0:
		return "", usagef(hint, "no %s %s runs here, or its cgroup is not seen from here", kind, what)
	case len(dirs) > 1:
		return "", usagef(hint, "%d of them are called %s: %s", len(dirs), what, strings.Join(names, ", "))
	}
	return dirs[0], nil
}

// where names a cgroup for people: its container with name and pod, or its path.
func (w *watching) where(path string) string {
	c, ok := w.machine().Of(path)
	switch {
	case ok:
		return "container " + c.String()
	case container.KindOf(path) == container.OfService:
		return filepath.Base(path)
	case w.pod != "":
		return "pod " + w.pod
	}
	return fmt.Sprintf("the cgroup %s", path)
}
