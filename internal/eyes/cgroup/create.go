package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
)

// Options say which cgroup to make. The zero value makes one without a limit
// wherever this process may.
type Options struct {
	Name   string       // part of the cgroup's name, for people
	Limit  sample.Bytes // 0: none
	Parent string       // path of the cgroup to make it in; "": the first place that allows it
}

// ErrNotPermitted says that no cgroup may be made, or none may be limited. A
// program can be watched without one.
var ErrNotPermitted = errors.New("not permitted")

// NotPermitted is the error of Create where every place refused.
type NotPermitted struct {
	Tried []error // one for each place
}

func (e *NotPermitted) Error() string {
	var b strings.Builder
	b.WriteString("no memory cgroup can be made here:")
	for i, err := range e.Tried {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(" " + err.Error())
	}
	b.WriteString("; without a limit the program can still be watched")
	return b.String()
}

// Is makes the error ErrNotPermitted.
func (e *NotPermitted) Is(target error) bool { return target == ErrNotPermitted }

// Unwrap gives the reason of each place.
func (e *NotPermitted) Unwrap() []error { return e.Tried }

// made is what has to be undone for a cgroup that Create made.
type made struct {
	leaf *leaf // where this process moved to make room; nil: it did not
}

// Create makes an empty cgroup, sets its limit, forbids it to swap, and opens
// it. Remove ends it; if this process is killed first, a later CleanStale does.
// Places are tried in this order:
//
//   - version 1: below our own cgroup, then below the root;
//   - version 2: beside our own cgroup, below it (which needs us to be alone
//     there and to move into a leaf: a cgroup with processes cannot share memory
//     out, cgroups(7) "no internal processes"), then below the root.
//
// A cgroup made beside or above our own is not subject to our own limits: such a place is
// taken only where none of them is below the new one's, so that what a service or a container starts does not leave its limit. The
// error is a *NotPermitted where no place allows it. Where a user's systemd
// would, see Scope.
func (h *Hierarchy) Create(o Options) (*Cgroup, error) {
	places, err := h.places(o.Parent)
	if err != nil {
		return nil, err
	}
	refused := &NotPermitted{}
	for _, p := range places {
		if err = h.leaves(p, o); err == nil {
			var c *Cgroup
			if c, err = h.createIn(p, o); err == nil {
				return c, nil
			}
		}
		refused.Tried = append(refused.Tried, err)
	}
	return nil, refused
}

// leaves is the error where a cgroup in a place would not be subject to one of our own limits that is below its
// own. A place that the caller chose is taken as it is.
func (h *Hierarchy) leaves(place string, o Options) error {
	own, err := h.Find(os.Getpid())
	if err != nil || o.Parent != "" {
		return nil
	}
	return h.outside(own, place, o.Limit)
}

// outside is the error where a limit of own, or of a cgroup above it, does not hold in place, and is below another limit, 0: none.
func (h *Hierarchy) outside(own, place string, limit sample.Bytes) error {
	for path := own; ; path = filepath.Dir(path) {
		dir, err := h.dir(path)
		if _, within := cutDir(place, path); within || err != nil {
			return nil
		}
		if l := h.level(path, dir).Limit; l.OK && (limit == 0 || l.V < limit) {
			return fmt.Errorf("a cgroup in %s would leave the %s limit of %s", place, units.Limit(l.V), path)
		}
	}
}

// places gives the paths of the cgroups to make one in, best first.
func (h *Hierarchy) places(parent string) ([]string, error) {
	if parent != "" {
		return []string{h.clean(parent)}, nil
	}
	own, err := h.Find(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("make a cgroup: %w", err)
	}
	all := []string{own, "/"}
	if h.Version == 2 {
		all = []string{filepath.Dir(own), own, "/"}
	}
	var places []string
	for _, p := range all {
		if !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places, nil
}

func (h *Hierarchy) createIn(parent string, o Options) (*Cgroup, error) {
	dir, err := h.dir(parent)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	m := &made{}
	if h.Version == 2 {
		if m.leaf, err = h.share(parent, dir); err != nil {
			return nil, err
		}
	}
	child, err := h.mkdir(dir, o.Name)
	if err == nil {
		var c *Cgroup
		if c, err = h.prepare(child, o.Limit); err == nil {
			c.made = m
			return c, nil
		}
		os.Remove(child)
	}
	return nil, errors.Join(err, m.leaf.undo())
}

// mkdir makes the directory of a cgroup of this run; a number is added where the
// run has one of that name already.
func (h *Hierarchy) mkdir(parent, name string) (string, error) {
	base, err := h.runName(name)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(parent, base)
	for n := 2; ; n++ {
		err := os.Mkdir(dir, 0o755)
		if !errors.Is(err, fs.ErrExist) || n > 1000 {
			return dir, err
		}
		dir = filepath.Join(parent, base+"-"+strconv.Itoa(n))
	}
}

// prepare opens a new cgroup and sets what holds from its first process on.
func (h *Hierarchy) prepare(dir string, limit sample.Bytes) (*Cgroup, error) {
	c, err := h.Open(dir)
	if err != nil {
		return nil, err
	}
	c.forbidSwap()
	if limit != 0 {
		err = c.SetLimit(limit)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// forbidSwap makes the limit one of memory alone. Where the kernel was told not
// to account swap and has some, the program may swap, and a gap says so.
func (c *Cgroup) forbidSwap() {
	var err error
	if c.h.Version == 2 {
		err = c.write("memory.swap.max", "0")
	} else {
		// At 0 reclaim for the cgroup's own limit takes no anonymous page
		// (mm/vmscan.c, get_scan_count); see also setLimitV1.
		err = c.write("memory.swappiness", "0")
	}
	if err != nil && c.h.hasSwap() {
		c.gaps = append(c.gaps, sample.Gap{What: "memory in swap", Why: "swap cannot be forbidden: " + err.Error()})
	}
}

// hasSwap reports whether /proc/swaps has a line behind its heading.
func (h *Hierarchy) hasSwap() bool {
	b, err := os.ReadFile(filepath.Join(h.root, "proc/swaps"))
	return err == nil && strings.Count(string(b), "\n") > 1
}

// SetLimit changes the limit, in whole pages; 0 takes it away.
func (c *Cgroup) SetLimit(limit sample.Bytes) error {
	if c.h.Version == 1 {
		return c.setLimitV1(limit)
	}
	text := "max"
	if limit != 0 {
		text = strconv.FormatUint(uint64(limit), 10)
	}
	return c.write("memory.max", text)
}

// setLimitV1 also sets memory.memsw, the limit of memory and swap together,
// where swap is accounted. That one is a page larger, so that it is the limit of
// memory that strikes and is counted, see names. It may not be the smaller one
// at any time, so it goes first up and last down.
func (c *Cgroup) setLimitV1(limit sample.Bytes) error {
	text, both := "-1", "-1"
	if limit != 0 {
		text = strconv.FormatUint(uint64(limit), 10)
		both = strconv.FormatUint(uint64(limit)+uint64(os.Getpagesize()), 10)
	}
	first := c.write("memory.memsw.limit_in_bytes", both)
	if err := c.write("memory.limit_in_bytes", text); err != nil {
		return err
	}
	if first == nil || errors.Is(first, fs.ErrNotExist) {
		return nil
	}
	return c.write("memory.memsw.limit_in_bytes", both)
}

// write writes one file of the cgroup.
func (c *Cgroup) write(name, text string) error { return write(filepath.Join(c.Dir, name), text) }

// write writes a kernel's file in one call and never creates one.
func write(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
