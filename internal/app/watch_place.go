package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/container"
)

// PlaceFlags name a cgroup to watch: one of them, or none.
type PlaceFlags struct {
	Cgroup, Container, Pod, Unit string
}

// places is how many of them are given.
func (f PlaceFlags) places() (n int) {
	for _, given := range []string{f.Cgroup, f.Container, f.Pod, f.Unit} {
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
		return &ExitError{Code: exitNotPermitted, Err: err, Hint: "without one, a PID can be watched"}
	case w.Cgroup != "":
		w.group = w.Cgroup
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
	case w.Unit != "":
		dirs, err := m.FindUnit(w.Unit)
		return only(dirs, dirs, err, "unit", w.Unit, "systemctl list-units shows units; give its whole name, or --cgroup with the directory of one of several")
	case w.Pod != "":
		dirs, err := m.FindPod(w.Pod)
		return only(dirs, dirs, err, "pod", w.Pod, "crictl pods shows pods; give NAMESPACE/NAME or its uid")
	}
	found, err := m.Find(w.Container)
	var dirs, names []string
	for _, c := range found {
		dirs, names = append(dirs, c.Path), append(names, c.String()+" "+c.ID[:min(len(c.ID), 12)])
	}
	return only(dirs, names, err, "container", w.Container, "docker ps, podman ps and crictl ps show names and ids; from inside of a container watch a PID")
}

// only is the one directory that was found. Names say of several what they are.
func only(dirs, names []string, err error, kind, what, hint string) (string, error) {
	switch {
	case err != nil:
		return "", Usagef(hint, "--%s: %w", kind, err)
	case len(dirs) == 0:
		return "", Usagef(hint, "no %s %s runs here, or its cgroup is not seen from here", kind, what)
	case len(dirs) > 1:
		return "", Usagef(hint, "%d of them are called %s: %s", len(dirs), what, strings.Join(names, ", "))
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
	case w.Pod != "":
		return "pod " + w.Pod
	}
	return fmt.Sprintf("the cgroup %s", path)
}
