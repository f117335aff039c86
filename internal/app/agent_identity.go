package app

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// errOff is that a program asks to be left alone.
var errOff = errors.New("it is not watched, as it has " + envOff + "=off in its environment")

// choose settles how a program is watched, by its environment.
func (a *agent) choose(pid int, o *watch.Options) error {
	env, err := procfs.Environment("/proc", pid, envOff, envProfile, envService, envOTel, envOTelRes)
	if err != nil {
		env = nil // as of a program that may not be read: then it is named by its other names
	}
	if env[envOff] == "off" {
		return fmt.Errorf("pid %d: %w", pid, errOff)
	}
	enable := a.flags.HeapProfile == "on" || a.flags.HeapProfile == "marked" && env[envProfile] == "1"
	o.HeapProfile, o.EnableRunning = enable, enable
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[pid] = env
	return nil
}

// begin makes what gathers the rows of a watch.
func (a *agent) begin(l *life) *agentLife {
	a.mu.Lock()
	env := a.seen[l.pid]
	delete(a.seen, l.pid)
	a.mu.Unlock()
	var in container.Container
	unit, group := "", ""
	if account, ok := l.source.Account(); ok {
		in, _ = a.machine.Of(account.Home)
		group = counts(a.hierarchy, account.Home)
		if container.KindOf(account.Home) == container.OfService {
			unit = strings.TrimSuffix(path.Base(account.Home), ".service")
		}
	}
	image := a.machine.Image(l.pid, in.ID)
	one := &agentLife{group: group}
	who := func(p sample.Program) fleet.Identity {
		who := identify(p, env, in, unit)
		who.Image = image
		if p.Key.PID == l.pid && one.main != a.collector.Process(p) {
			one.who, one.main = who, a.collector.Process(p)
			a.note(one.group, who)
			a.keepWhose(l, one)
		}
		return who
	}
	who(l.main) // one that is killed before anything is read of it has a name, too
	one.Life = a.collector.NewLife(who)
	return one
}

// identify names a program: by what its environment says, its pod, its unit or its main
// package, in this order.
func identify(p sample.Program, env map[string]string, in container.Container, unit string) fleet.Identity {
	attributes := map[string]string{}
	for _, pair := range strings.Split(env[envOTelRes], ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			if text, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
				attributes[strings.TrimSpace(name)] = text
			}
		}
	}
	who := fleet.Identity{Namespace: in.Namespace, Pod: in.Pod, Container: in.Name, ContainerID: in.ID, PodUID: in.PodUID}
	main, module, revision, build := "", "", "", ""
	if g := p.Go; g != nil {
		module, revision, build = g.ModuleVersion, g.Revision, g.BuildID
		if main = path.Base(g.MainPackage); main == "." || main == "main" || main == "command-line-arguments" {
			main = ""
		}
	}
	if module == "(devel)" {
		module = ""
	}
	who.Service = cmp.Or(env[envOTel], attributes["service.name"], env[envService], container.Workload(in.Pod), unit, main, p.Name)
	who.Version = cmp.Or(attributes["service.version"], module, revision[:min(12, len(revision))], build[:min(12, len(build))])
	return who
}

// unseen counts the programs that are not watched, by why, and says so where it changes.
func (a *agent) unseen(hidden, beyond int, refused map[sample.ProcessKey]error) {
	now := map[string]int{}
	for key, err := range refused {
		if current, gone := procfs.KeyOf("/proc", key.PID); gone != nil || current != key {
			continue
		}
		if errors.Is(err, errOff) {
			now[unwatchedOff]++
		} else {
			now[unwatchedRefused]++
		}
	}
	for why, n := range map[string]int{unwatchedHidden: hidden, unwatchedBeyond: beyond} {
		if n > 0 {
			now[why] = n
		}
	}
	a.mu.Lock()
	before := a.unwatched
	a.unwatched = now
	a.mu.Unlock()
	for _, one := range []struct{ why, text string }{
		{unwatchedHidden, "may be Go programs and cannot be read: seeing them needs root, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"},
		{unwatchedRefused, "are Go programs and cannot be watched"},
		{unwatchedBeyond, "are beyond --at-most"},
	} {
		if now[one.why] > before[one.why] {
			a.status.say("highwater: %d processes %s; nothing of them reaches the store", now[one.why], one.text)
		}
	}
}

// Why a program is not watched.
const (
	unwatchedHidden  = "hidden"  // its executable may not be read
	unwatchedRefused = "refused" // it may not be traced, or another reason that was said
	unwatchedBeyond  = "at-most" // there are more than --at-most
	unwatchedOff     = "asked"   // it has HIGHWATER=off
)
