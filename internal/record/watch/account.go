package watch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// account is what is read of cgroups: the charge of one, and the counters and limits of
// that where the programs are, which is the same one or lies below it.
type account struct {
	// group is whose charge the ledger divides: the cgroup whose limit strikes first.
	// nil: none is worth reading.
	group *cgroup.Cgroup
	// home is the cgroup that the programs are in: the kernel counts a kill there,
	// whoever's limit it was for.
	home *cgroup.Cgroup
	// opened are those of the two that were opened here, and are closed here.
	opened []*cgroup.Cgroup
	// hidden is a limit that holds and is not seen as a cgroup; absent: none is known.
	hidden sample.Opt[sample.Bytes]
	// members are the processes of Options.Group, where group has others too.
	members map[int]bool
	// levels are home and all above it when the last kill was told.
	levels []cgroup.Level
	// dropped is the ballast that was given up for the process which is at its end: it
	// was a part of the charge that met the limit.
	dropped sample.Bytes
}

// maxBeside bounds the programs that share a cgroup with what is watched: the charge of
// a whole session says little of one program.
const maxBeside = 32

// Account is the cgroup whose charge and limit are read; ok is false where none is.
func (s *Source) Account() (a Account, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.readGroup()
	if c == nil {
		return a, false
	}
	return Account{Home: s.account.home.Path, Path: s.account.group.Path, Limit: c.Limit}, true
}

// Account says whose charge and limit are read.
type Account struct {
	Home  string // path of the cgroup that the programs are in
	Path  string // of the one that is read: the same, or one above it
	Limit sample.Opt[sample.Bytes]
}

// Kind is what the cgroup is of.
func (a Account) Kind() container.Kind { return container.KindOf(a.Path) }

// ShareOwn has the charge read of the cgroup that this process is in, for what it is to
// start: without Options.Group that is counted with us.
func (s *Source) ShareOwn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.Group == nil && s.opts.Scopes == nil {
		s.ofProcess(os.Getpid())
	}
}

// ofGroup takes the charge of the programs' own cgroup, or of that above it whose limit
// is tighter. The caller holds the lock, or has the source for itself.
func (s *Source) ofGroup(g *cgroup.Cgroup) {
	s.account.group, s.account.home = g, g
	s.widen()
	s.readOOMKills()
	s.shareLimit()
}

// ofProcess opens the cgroup of a process, where its charge is worth knowing: where it
// has a limit, or nothing else in it than what is watched. The caller holds the lock, or
// has the source for itself.
func (s *Source) ofProcess(pid int) {
	const what = "memory usage of the cgroup"
	home, err := cgroup.FindHome(strings.TrimSuffix(s.opts.Root, "proc"), pid)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			s.gap(sample.ProcessKey{}, what, err)
		}
		return
	}
	g, err := home.Open()
	if err != nil {
		if home.Path != "/" { // the machine, which has no account
			s.gap(sample.ProcessKey{}, what, err)
		}
		return
	}
	if home.IsMachine() {
		g.Close() // the machine, which has no account
		return
	}
	beside, limited, err := s.besideIn(g)
	if err != nil || beside > mostBeside(limited) {
		g.Close()
		count := ""
		if beside > maxBeside {
			count = fmt.Sprintf("more than %d ", maxBeside)
		}
		s.gap(sample.ProcessKey{}, what, errors.Join(err, fmt.Errorf("the cgroup %s contains %sother processes", home.Path, count)))
		return
	}
	s.account.opened = append(s.account.opened, g)
	s.ofGroup(g)
}

// widen takes the charge of a cgroup above the programs' own where its limit is the
// tighter one, as that of a pod, and it does not hold too much else.
func (s *Source) widen() {
	home := s.account.home
	levels, err := home.Limits()
	tightest, ok := cgroup.Tightest(levels)
	switch {
	case err != nil || !ok || tightest.Path == home.Path:
		return
	case tightest.Path == "":
		s.account.hidden = tightest.Limit
		return
	}
	above, err := home.Above(tightest.Path)
	if err != nil {
		return
	}
	if pids, err := above.Procs(); err != nil || len(pids) > maxBeside {
		s.gap(sample.ProcessKey{}, "the charge of "+tightest.Path, errors.Join(err, fmt.Errorf("its limit holds for this program, and for %d others", len(pids)-1)))
		above.Close()
		return
	}
	s.account.group, s.account.opened = above, append(s.account.opened, above)
}

// close closes what was opened here.
func (a *account) close() {
	for _, g := range a.opened {
		g.Close()
	}
}

// mostBeside is how many other programs may share a cgroup for its charge to be read: none
// where no limit makes it matter.
func mostBeside(limited bool) int {
	if limited {
		return maxBeside
	}
	return 0
}

// besideIn is how many programs a cgroup holds beside those that are watched, counted to one
// above mostBeside, and whether it, or one above it, has a limit.
func (s *Source) besideIn(g *cgroup.Cgroup) (beside int, limited bool, err error) {
	levels, err := g.Limits()
	if err != nil {
		return 0, false, err
	}
	pids, err := g.Procs()
	if err != nil {
		return 0, false, err
	}
	_, limited = cgroup.Tightest(levels)
	for _, pid := range pids {
		if watcher := s.scope == started && pid == os.Getpid(); !watcher && !s.isOurs(pid) {
			beside++
		}
		if beside > mostBeside(limited) { // each costs a look at those above it
			return beside, limited, nil
		}
	}
	return beside, limited, nil
}

// shareLimit takes ballast where a limit of the programs' is one of ours too.
func (s *Source) shareLimit() {
	levels, err := s.account.home.Limits()
	if err != nil {
		return
	}
	own, err := cgroup.FindHome(strings.TrimSuffix(s.opts.Root, "proc"), os.Getpid())
	if err != nil {
		return
	}
	shared := slices.DeleteFunc(levels, func(l cgroup.Level) bool { return l.Path == "" || !isWithin(own.Path, l.Path) })
	if tightest, ok := cgroup.Tightest(shared); ok {
		s.ballast.load(tightest.Limit.V)
	}
}

// SharesLimit says whether what this process takes counts against a limit of the
// programs'.
func (s *Source) SharesLimit() bool { return s.ballast.needed() }

// mayStarve says of a process whether to read its pages could have us killed: that
// takes milliseconds, in which its memory is ours, too. If it is killed meanwhile and
// nobody holds it, as the tracer does, the charge stays at the limit that we share when it
// is gone, and the kernel looks for the next one (mm/oom_kill.c, select_bad_process).
func (s *Source) mayStarve(p *process) bool {
	return s.ballast.needed() && !p.traced && p.key.PID != os.Getpid()
}

// isWithin says whether a cgroup is another or below it.
func isWithin(path, above string) bool {
	return path == above || strings.HasPrefix(path, strings.TrimSuffix(above, "/")+"/")
}

// read reads the charge, and the counter of kills where the programs are.
func (a *account) read(out *sample.Cgroup) error {
	if err := a.group.Read(out); err != nil {
		return err
	}
	if a.hidden.OK && (!out.Limit.OK || a.hidden.V < out.Limit.V) {
		out.Limit = a.hidden
	}
	if a.home == a.group || out.Events == nil {
		return nil
	}
	var home sample.Cgroup
	if a.home.Read(&home) == nil && home.Events != nil {
		out.Events.OOMKill = home.Events.OOMKill
	}
	return nil
}

// withBallast makes the charge after a kill that of the kill. It was at most the limit then: where others took
// some of the ballast's place before the charge was read, only the rest of it is added.
func (a *account) withBallast(c *sample.Cgroup) {
	if c == nil {
		return
	}
	if c.Limit.OK {
		a.dropped = min(a.dropped, max(c.Limit.V, c.Usage)-c.Usage)
	}
	c.Usage += a.dropped
	if c.Stat != nil {
		c.Stat.Anon += a.dropped
	}
}

// ballastOf adds the ballast to what the watcher held at the kill.
func (a *account) ballastOf(all []beside) {
	for i := range all {
		if all[i].key.PID != os.Getpid() || a.dropped == 0 {
			continue
		}
		r := *all[i].Resident
		r.Total += a.dropped
		all[i].Resident = &r
		if all[i].Residency != nil {
			all[i].Residency.Anon += a.dropped
		}
	}
}

// procs are the processes whose charge it is.
func (a *account) procs(own *cgroup.Cgroup) ([]int, error) {
	pids, err := a.group.Procs()
	a.members = nil
	if err != nil || own == nil || own == a.group {
		return pids, err
	}
	in, err := own.Procs()
	a.members = make(map[int]bool, len(in))
	for _, pid := range in {
		a.members[pid] = true
	}
	return pids, err
}
