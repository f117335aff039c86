// Package cgroup reads and makes memory cgroups, version 1 and 2.
//
// Detect finds the hierarchy that accounts memory, Find the cgroup of a process,
// Open holds a cgroup's files open, and Read takes its account by one pread a
// file, without an allocation. Create makes a cgroup for a program that is to
// run under a limit; CleanStale removes what a killed watcher left behind.
//
// It is deliberately no general cgroup library: other controllers are left
// alone, and nothing here judges. Whose limit killed a program is for a rule to
// say, from the counters that Limits gives for every level of the tree.
//
// github.com/containerd/cgroups is not used: its statistics are built anew as
// protocol buffers at every call, and its managers create a cgroup in every
// controller, where this package needs one directory and three writes.
package cgroup

import (
	"errors"
	"fmt"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// ErrGone says that the cgroup was removed while it was read.
var ErrGone = errors.New("the cgroup was removed")

// Cgroup is one memory cgroup with its files held open. Its methods may not be
// called at the same time: they share one buffer.
type Cgroup struct {
	Path string // as in /proc/PID/cgroup: "/user.slice/..."
	Dir  string // its directory

	h     *Hierarchy
	files account
	gaps  []sample.Gap
	made  *made // nil: somebody else's
	buf   [bufSize]byte
}

// bufSize exceeds every file that is read: memory.stat of Linux 6.18 has 1.3 KB
// in v1 and 1.9 KB in v2.
const bufSize = 16 << 10

// account is the files that are held open; what is absent is -1.
type account struct {
	dir                      fd // the cgroup's directory
	usage, peak, limit, stat fd
	kernel                   fd // v1: memory.kmem.usage_in_bytes
	failcnt, swapFailcnt     fd // v1
	events                   fd // v2: memory.events, v1: memory.oom_control
}

// Open opens the cgroup of that path, given as in /proc/PID/cgroup or as a
// directory of the hierarchy's mount. The root of version 2 has no account and
// is refused. Close ends it.
func (h *Hierarchy) Open(path string) (*Cgroup, error) {
	path = h.clean(path)
	dir, err := h.dir(path)
	if err != nil {
		return nil, fmt.Errorf("open cgroup: %w", err)
	}
	c := &Cgroup{Path: path, Dir: dir, h: h}
	if err := c.open(); err != nil {
		return nil, fmt.Errorf("open cgroup %s: %w", path, err)
	}
	return c, nil
}

func (c *Cgroup) open() error {
	var err error
	n := c.h.names()
	if c.files.usage, err = openFD(c.Dir + "/" + n.usage); err != nil {
		return fmt.Errorf("%w (a root cgroup has no account of its own)", err)
	}
	c.files.dir, _ = openFD(c.Dir) // without it the directory is looked up each time
	c.files.peak = c.optional(n.peak, "peak of the cgroup")
	c.files.limit = c.optional(n.limit, "limit of the cgroup")
	c.files.stat = c.optional(n.stat, "division of the cgroup's charge")
	c.files.events = c.optional(n.events, "OOM kills of the cgroup")
	c.files.kernel, c.files.failcnt, c.files.swapFailcnt = noFD, noFD, noFD
	if c.h.Version == 1 {
		c.files.failcnt = c.optional(n.failcnt, "charges that met the cgroup's limit")
		// Absent where the kernel does not charge its own memory, or no swap: then
		// they are 0.
		c.files.kernel, _ = openFD(c.Dir + "/" + n.kernel)
		c.files.swapFailcnt, _ = openFD(c.Dir + "/" + n.swapFailcnt)
	}
	return nil
}

// optional opens a file that may be missing; what is missing becomes a gap.
func (c *Cgroup) optional(name, what string) fd {
	f, err := openFD(c.Dir + "/" + name)
	if err != nil {
		c.gaps = append(c.gaps, sample.Gap{What: what, Why: err.Error()})
		return noFD
	}
	return f
}

// Gaps says what this kernel does not tell of the cgroup, and why. From and To
// are zero: it holds as long as the Cgroup is open.
func (c *Cgroup) Gaps() []sample.Gap { return c.gaps }

// Version is 1 or 2, that of the hierarchy.
func (c *Cgroup) Version() int { return c.h.Version }

// ReadUsage reads the charge alone, the one figure to be polled often: one
// pread, 1 µs on an idle machine. The error is ErrGone once the cgroup was removed.
func (c *Cgroup) ReadUsage() (sample.Bytes, error) {
	b, err := c.files.usage.read(c.buf[:])
	if err != nil {
		return 0, err
	}
	v, ok := parseUint(b)
	if !ok {
		return 0, errMalformed
	}
	return sample.Bytes(v), nil
}

// Read takes the whole account. It reuses out.Stat and out.Events where they are
// not nil, and then allocates nothing. A part that the kernel does not give is
// nil or absent, and Gaps says why; only a charge that cannot be read is an
// error.
func (c *Cgroup) Read(out *sample.Cgroup) error {
	usage, err := c.ReadUsage()
	if err != nil {
		return fmt.Errorf("read cgroup %s: %w", c.Path, err)
	}
	out.Usage = usage
	out.Peak = c.readOpt(c.files.peak)
	out.Limit = withoutNoLimit(c.readOpt(c.files.limit))
	out.Stat = c.readStat(out.Stat)
	out.Events = c.readEvents(out.Events)
	return nil
}

func (c *Cgroup) readOpt(f fd) (v sample.Opt[sample.Bytes]) {
	if b, err := f.read(c.buf[:]); err == nil {
		n, ok := parseUint(b)
		v = sample.Opt[sample.Bytes]{V: sample.Bytes(n), OK: ok}
	}
	return v
}

func (c *Cgroup) readStat(s *sample.CgroupStat) *sample.CgroupStat {
	b, err := c.files.stat.read(c.buf[:])
	if err != nil {
		return nil
	}
	if s == nil {
		s = new(sample.CgroupStat)
	}
	if c.h.Version == 2 {
		err = parseStatV2(s, b)
	} else if err = parseStatV1(s, b); err == nil {
		s.Kernel = c.readOpt(c.files.kernel).V
	}
	if err != nil {
		return nil
	}
	return s
}

func (c *Cgroup) readEvents(e *sample.CgroupEvents) *sample.CgroupEvents {
	b, err := c.files.events.read(c.buf[:])
	if err != nil {
		return nil
	}
	if e == nil {
		e = new(sample.CgroupEvents)
	}
	if err := parseEvents(e, b); err != nil {
		return nil
	}
	if c.h.Version == 1 {
		e.Max = uint64(c.readOpt(c.files.failcnt).V + c.readOpt(c.files.swapFailcnt).V)
	}
	return e
}

// Close closes the files; it does not remove the cgroup.
func (c *Cgroup) Close() error {
	f := &c.files
	for _, p := range []*fd{&f.dir, &f.usage, &f.peak, &f.limit, &f.stat, &f.kernel, &f.failcnt, &f.swapFailcnt, &f.events} {
		p.close()
		*p = noFD
	}
	return nil
}
