package cgroup

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// Level is one cgroup on the way from a program to the root: a limit that may
// strike, and the counters that tell whether it did.
//
// The kernel counts oom_kill where the victim is, whoever's limit it was, the
// node's included. What tells them apart, by growth over the kill:
//   - version 2: OOM grew at the level whose limit struck and, in Events of
//     memory.events, at those above it; Local is that of the level alone
//     (mm/memcontrol.c, memcg_memory_event). Grown at none: the node's.
//   - version 1: Max (memory.failcnt and memory.memsw.failcnt) grew at the level
//     whose limit a charge met, but page cache makes it grow as well; there is no
//     counter of OOMs.
type Level struct {
	Path  string                   // "": it is not seen from here, but for its limit
	Limit sample.Opt[sample.Bytes] // absent: none
	Usage sample.Opt[sample.Bytes] // absent in the root of version 2
	// Events is of the level and all below; in version 1 of the level alone.
	Events *sample.CgroupEvents
	// Local is of the level alone: memory.events.local, since 5.2.
	Local *sample.CgroupEvents
	// OOMGroup means that the kernel kills all processes of the level together (memory.oom.group).
	OOMGroup bool
}

// Limits gives every level from the cgroup itself, first, up to the highest that
// is visible here. A file that cannot be read leaves its member absent or nil.
// It opens files and allocates: not for every tick.
func (c *Cgroup) Limits() ([]Level, error) {
	var levels []Level
	for path := c.Path; ; path = filepath.Dir(path) {
		dir, err := c.h.dir(path)
		if err != nil {
			break // above what is mounted here
		}
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("read the limits of cgroup %s: %w", c.Path, err)
		}
		levels = append(levels, c.h.level(path, dir))
		if path == "/" {
			break
		}
	}
	if hidden := c.hiddenLimit(); hidden.OK {
		levels = append(levels, Level{Limit: hidden})
	}
	return levels, nil
}

// Above opens a cgroup of the same hierarchy, one of those that Limits names.
func (c *Cgroup) Above(path string) (*Cgroup, error) { return c.h.Open(path) }

// hiddenLimit is the smallest limit of the cgroup and all above it, those that cannot
// be seen from here too: version 1 tells it in memory.stat, version 2 nowhere. As a
// Level it has no Path.
func (c *Cgroup) hiddenLimit() sample.Opt[sample.Bytes] {
	b, err := c.files.stat.read(c.buf[:])
	if c.h.Version == 2 || err != nil {
		return sample.Opt[sample.Bytes]{}
	}
	for len(b) > 0 {
		key, v, rest, ok := nextPair(b)
		if b = rest; ok && string(key) == "hierarchical_memory_limit" {
			return withoutNoLimit(sample.Some(sample.Bytes(v)))
		}
	}
	return sample.Opt[sample.Bytes]{}
}

func (h *Hierarchy) level(path, dir string) Level {
	n := h.names()
	l := Level{
		Path:   path,
		Limit:  withoutNoLimit(number(dir, n.limit)),
		Usage:  number(dir, n.usage),
		Events: events(dir, n.events),
	}
	if h.Version == 1 {
		if l.Events != nil {
			l.Events.Max = uint64(number(dir, n.failcnt).V + number(dir, n.swapFailcnt).V)
		}
		l.Local = l.Events
		return l
	}
	l.Local = events(dir, "memory.events.local")
	l.OOMGroup = number(dir, "memory.oom.group").V == 1
	return l
}

func number(dir, name string) sample.Opt[sample.Bytes] {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return sample.Opt[sample.Bytes]{}
	}
	v, ok := parseUint(b)
	return sample.Opt[sample.Bytes]{V: sample.Bytes(v), OK: ok}
}

func events(dir, name string) *sample.CgroupEvents {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	e := new(sample.CgroupEvents)
	if parseEvents(e, b) != nil {
		return nil
	}
	return e
}

// Tightest is the level with the smallest limit, the lowest of equals. ok is
// false where none has a limit.
func Tightest(levels []Level) (tightest Level, ok bool) {
	for _, l := range levels {
		if l.Limit.OK && (!ok || l.Limit.V < tightest.Limit.V) {
			tightest, ok = l, true
		}
	}
	return tightest, ok
}

// NodeOOMKills is the number of processes that the kernel has killed for lack
// of memory on the whole machine, whoever's limit it was: oom_kill of
// /proc/vmstat, since 4.13. ok is false where it cannot be read.
func (h *Hierarchy) NodeOOMKills() (n uint64, ok bool) {
	b, err := os.ReadFile(filepath.Join(h.root, "proc/vmstat"))
	if err != nil {
		return 0, false
	}
	e := new(sample.CgroupEvents)
	err = parseEvents(e, b)
	return e.OOMKill, err == nil
}
