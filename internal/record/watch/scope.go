package watch

import (
	"os"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// scope is what a source is of.
type scope int

const (
	started scope = iota // a program that it starts, and all below or in its cgroup
	tree                 // a program that ran already, and all below it
	whole                // all programs of a cgroup
)

// findGroup looks, when the main process has become another program, whether it
// has been moved into a cgroup of its own meanwhile. The caller holds the lock.
func (s *Source) findGroup(pid int) {
	if s.opts.Group != nil || s.opts.Scopes == nil || pid != s.main {
		return
	}
	ours, err := s.opts.Scopes.Find(os.Getpid())
	if err != nil {
		s.gap(sample.ProcessKey{}, "the program's cgroup", err)
		return
	}
	theirs, err := s.opts.Scopes.Find(pid)
	if err != nil || theirs == ours {
		return // not moved yet, or gone
	}
	group, err := s.opts.Scopes.Open(theirs)
	if err != nil {
		s.gap(sample.ProcessKey{}, "the program's cgroup", err)
		return
	}
	s.opts.Group, s.account.opened = group, append(s.account.opened, group)
	s.ofGroup(group)
}
