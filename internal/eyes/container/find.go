package container

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Machine is where containers are looked for.
type Machine struct {
	Root  string // of the machine's files: "/", or a test directory
	Mount string // of the cgroups that account memory
}

// List gives the containers that run, by the cgroups that they are in.
func (m Machine) List() []Container {
	var all []Container
	owners := map[string]int{}
	m.walk(func(path string) bool {
		id := idOf(filepath.Base(path))
		if id == "" {
			return true
		}
		all = append(all, Container{ID: id, Path: path})
		if uid, ok := ownerOf(path); ok {
			owners[id] = uid
		}
		return false // one that runs in it belongs to it
	})
	known := m.names(owners)
	for i, c := range all {
		all[i] = known[c.ID]
		all[i].ID, all[i].Path = c.ID, c.Path
		if uid := podUID(filepath.Base(filepath.Dir(c.Path))); uid != "" {
			all[i].PodUID = uid
		}
	}
	return all
}

// Of is the container that the cgroup of a path belongs to; ok is false for none.
func (m Machine) Of(path string) (c Container, ok bool) {
	id := IDOf(path)
	if id == "" {
		return c, false
	}
	owners := map[string]int{}
	if uid, ok := ownerOf(filepath.Join(m.Mount, path)); m.Mount != "" && ok {
		owners[id] = uid
	}
	c = m.names(owners)[id]
	c.ID = id
	for dir := path; dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if uid := podUID(filepath.Base(dir)); uid != "" {
			c.PodUID = uid
		}
	}
	return c, true
}

// Find gives the containers of a name, or whose id begins so: "web", "shop-0/web",
// "default/shop-0/web", "3f4e5d6c7b8a". A kubelet's "containerd://" before an id is left
// out. An id or a name that cannot be one is an error.
func (m Machine) Find(what string) ([]Container, error) {
	if _, rest, ok := strings.Cut(what, "://"); ok {
		what = rest
	}
	if !isName(what) {
		return nil, fmt.Errorf("%q is neither a container's name nor an id", what)
	}
	all := m.List()
	named := slices.DeleteFunc(slices.Clone(all), func(c Container) bool { return !c.called(what) })
	if len(named) > 0 || len(what) < minID || !isHex(what) {
		return named, nil
	}
	return slices.DeleteFunc(all, func(c Container) bool { return !strings.HasPrefix(c.ID, what) }), nil
}

func (c Container) called(what string) bool {
	if c.Name == "" {
		return false
	}
	full := strings.Join([]string{c.Namespace, c.Pod, c.Name}, "/")
	return strings.HasSuffix("/"+full, "/"+what)
}

// FindPod gives the cgroups of the pods of a name or a uid: "shop-0", "default/shop-0".
func (m Machine) FindPod(what string) (dirs []string, err error) {
	if !isName(what) {
		return nil, fmt.Errorf("%q is neither a pod's name nor a uid", what)
	}
	for _, c := range m.List() {
		name := strings.HasSuffix("/"+c.Namespace+"/"+c.Pod, "/"+what) && c.Pod != ""
		if dir := filepath.Dir(c.Path); (name || c.PodUID == what) && KindOf(dir) == OfPod && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// FindUnit gives the cgroups of a unit of systemd: "checkout.service", or "checkout". The
// same unit may run for several users.
func (m Machine) FindUnit(name string) (dirs []string, err error) {
	if !isName(name) || strings.Contains(name, "/") {
		return nil, fmt.Errorf("%q is not a unit's name", name)
	}
	if filepath.Ext(name) == "" {
		name += ".service"
	}
	m.walk(func(path string) bool {
		if filepath.Base(path) == name {
			dirs = append(dirs, path)
			return false
		}
		return true
	})
	return dirs, nil
}

// walk visits the directories below the mount; in says whether to look into one.
func (m Machine) walk(in func(path string) bool) {
	_ = filepath.WalkDir(m.Mount, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return filepath.SkipDir // gone, or not ours to see
		case err != nil || !d.IsDir() || path == m.Mount:
			return nil
		case !in(path):
			return filepath.SkipDir
		}
		return nil
	})
}

// isName reports whether s has only what engines allow in names, and the slashes between them.
func isName(s string) bool {
	return s != "" && !strings.Contains(s, "..") && strings.IndexFunc(s, func(r rune) bool {
		return !(r == '/' || r == '.' || r == '-' || r == '_' || r == '@' || r == '\\' || r == ':' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' ||
			'A' <= r && r <= 'Z')
	}) < 0
}
