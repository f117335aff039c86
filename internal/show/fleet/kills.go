package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/files/outfile"
	"github.com/highwater-go/highwater/internal/files/regular"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// Kills counts the OOM kills of cgroups as the kernel does, beside those that were held and
// told. What the kernel counts and nobody told is a kill too: of a program that died before
// it was found, of one that is no Go program, or while no agent ran.
type Kills struct {
	file string // where counts are kept from one agent to the next, "": nowhere

	mu     sync.Mutex
	groups map[string]*counted
	dirty  bool
}

// counted is one cgroup.
type counted struct {
	Boot    string   `json:"boot"`
	Who     Identity `json:"who"`
	Kernel  uint64   `json:"kernel"` // kills that the kernel counts
	Told    uint64   `json:"told"`   // of these, those that are incidents
	open    *cgroup.Cgroup
	since   time.Time // when the kernel counted other than was told, zero: it does not
	account sample.Cgroup
}

// Untold is kills of a cgroup that nobody told.
type Untold struct {
	Path  string
	N     uint64 // how many
	Count uint64 // the kernel's, after them
	At    time.Time
	Usage sample.Bytes // of the cgroup when it was seen
	Limit sample.Opt[sample.Bytes]
}

// toldWithin is how long a kill may take to be told after the kernel has counted it: a
// death is read, written and explained meanwhile.
const toldWithin = 30 * time.Second

// mostGroups is how many cgroups are looked at.
const mostGroups = 10_000

// NewKills goes on from the counts of a file, where they are of this boot.
func NewKills(file, boot string) *Kills {
	k := &Kills{file: file, groups: map[string]*counted{}}
	f, err := regular.Open(file)
	if err != nil {
		return k
	}
	defer f.Close()
	var all map[string]*counted
	if json.NewDecoder(io.LimitReader(f, 64<<20)).Decode(&all) != nil {
		return k
	}
	for path, c := range all {
		if c != nil && c.Boot == boot && len(k.groups) < mostGroups {
			k.groups[path] = c
		}
	}
	return k
}

// Known are the cgroups that an earlier agent counted the kills of, and what is in them.
func (k *Kills) Known() map[string]Identity {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := map[string]Identity{}
	for path, c := range k.groups {
		known[path] = c.Who
	}
	return known
}

// Told notes that a kill in a cgroup is an incident.
func (k *Kills) Told(path string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.groups[path]; c != nil {
		c.Told++
		k.dirty = true
	}
}

// Note begins to count the kills of a cgroup: one that comes before the next Look is told.
func (k *Kills) Note(h *cgroup.Hierarchy, path string, who Identity, boot string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.groups[path] == nil {
		k.look(h, path, boot, now)
	}
	if c := k.groups[path]; c != nil && c.Who != who {
		c.Who, k.dirty = who, true
	}
}

// Look reads the counters of cgroups, and gives the kills that were not told in time. What
// is seen for the first time begins with what the kernel has counted by then. Cgroups that
// are not among paths any more are forgotten.
func (k *Kills) Look(h *cgroup.Hierarchy, paths map[string]Identity, boot string, now time.Time) (list []Untold, gone []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for path, c := range k.groups {
		if _, ok := paths[path]; !ok {
			c.close()
			delete(k.groups, path)
			k.dirty = true
		}
	}
	for path, who := range paths {
		if u, ok := k.look(h, path, boot, now); ok {
			list = append(list, u)
		}
		if c := k.groups[path]; c == nil {
			gone = append(gone, path)
		} else if c.Who != who {
			c.Who, k.dirty = who, true
		}
	}
	return list, gone
}

func (k *Kills) look(h *cgroup.Hierarchy, path, boot string, now time.Time) (u Untold, ok bool) {
	c := k.groups[path]
	first := c == nil
	if first {
		if len(k.groups) >= mostGroups {
			return u, false
		}
		c = &counted{Boot: boot}
	}
	if c.open == nil {
		group, err := h.Open(path)
		if err != nil {
			delete(k.groups, path)
			return u, false
		}
		c.open = group
	}
	if c.open.Read(&c.account) != nil || c.account.Events == nil {
		c.close() // it was removed, or made anew under its name
		delete(k.groups, path)
		return u, false
	}
	n := c.account.Events.OOMKill
	if first || n < c.Kernel {
		c.Kernel, c.Told, c.since, k.dirty = n, n, time.Time{}, true
		k.groups[path] = c
		return u, false
	}
	if n != c.Kernel {
		c.Kernel, k.dirty = n, true
	}
	switch {
	case c.Kernel == c.Told:
		c.since = time.Time{}
		return u, false
	case c.since.IsZero():
		c.since = now
		return u, false
	case now.Sub(c.since) < toldWithin:
		return u, false
	case c.Kernel < c.Told: // a kill was told that the kernel counts elsewhere
		c.Told, c.since, k.dirty = c.Kernel, time.Time{}, true
		return u, false
	}
	u = Untold{Path: path, N: c.Kernel - c.Told, Count: c.Kernel, At: c.since, Usage: c.account.Usage, Limit: c.account.Limit}
	c.Told, c.since, k.dirty = c.Kernel, time.Time{}, true
	return u, true
}

func (c *counted) close() {
	if c.open != nil {
		_ = c.open.Close() // it was read
		c.open = nil
	}
}

// Keep writes the counts, where they have changed.
func (k *Kills) Keep() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.dirty || k.file == "" {
		return nil
	}
	err := outfile.Write(k.file, func(w io.Writer) error { return json.NewEncoder(w).Encode(k.groups) })
	if err != nil {
		return fmt.Errorf("keep the counts of kills: %w", err)
	}
	k.dirty = false
	return nil
}

// Close lets go of the cgroups' files.
func (k *Kills) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.groups {
		c.close()
	}
}

// Incident is the incident of kills that nobody told.
func (u Untold) Incident(name string) Incident {
	what := "A process of " + name + " was"
	if u.N > 1 {
		what = fmt.Sprintf("%d processes of %s were", u.N, name)
	}
	in := Incident{At: u.At, Kind: KindKill, Class: Unread, Process: hashOf("kill of a cgroup", u.Path, fmt.Sprint(u.Count)),
		Sentence: what + " OOM-killed, and not held: the kernel's count is all that is known.",
		Cause:    "What was killed was no Go program, ended before it was found, or no agent ran."}
	if u.Limit.OK {
		in.Limit = sample.Some(uint64(u.Limit.V))
	}
	return in
}
