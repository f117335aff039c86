package app

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/show/fleet"
)

// Kills are counted so often, and containers without a Go program looked for.
const (
	killsEvery      = 2 * time.Second
	containersEvery = 30 * time.Second
	leftFor         = 2 * time.Minute // that a recording of an earlier agent waits for a kill to be counted
)

// leftRecording is one that an earlier agent left, of a program that was well when it ended.
type leftRecording struct {
	path   string
	whose  fleet.Whose
	answer *explain.Answer
}

// countKills compares what the kernel counts with what was told, until ctx ends.
func (a *agent) countKills(ctx context.Context, h *cgroup.Hierarchy) {
	a.recover(ctx)
	tick := time.NewTicker(killsEvery)
	defer tick.Stop()
	began, listed := time.Now(), time.Time{}
	for {
		if now := time.Now(); now.Sub(listed) >= containersEvery {
			listed = now
			a.listContainers()
		}
		a.lookForKills(h, time.Now())
		if time.Since(began) > leftFor {
			a.dropLeft()
		}
		select {
		case <-ctx.Done():
			a.dropLeft()
			return
		case <-tick.C:
		}
	}
}

func (a *agent) lookForKills(h *cgroup.Hierarchy, now time.Time) {
	a.mu.Lock()
	paths := maps.Clone(a.groups)
	a.mu.Unlock()
	untold, gone := a.kills.Look(h, paths, a.bootID, now)
	for _, u := range untold {
		a.tellUntold(u)
	}
	a.mu.Lock()
	for _, p := range gone {
		delete(a.groups, p)
	}
	a.mu.Unlock()
	if err := a.kills.Keep(); err != nil && !a.killsFailed {
		a.killsFailed = true
		a.status.say("highwater: %v", err)
	}
}

// tellUntold makes an incident of kills that were not held: with the recording of an earlier
// agent, where there is one of that cgroup.
func (a *agent) tellUntold(u fleet.Untold) {
	a.mu.Lock()
	who := a.groups[u.Path]
	left, ok := a.leftBehind[u.Path]
	delete(a.leftBehind, u.Path)
	a.mu.Unlock()
	in := u.Incident(groupName(who, u.Path))
	if !ok {
		a.publish(in, who, "")
		return
	}
	in.Process, who = left.whose.Process, left.whose.Identity
	in.Cause = "No agent ran at the kill. Before it: " + left.answer.Verdict.Sentence
	in.TellMost(left.answer)
	fleet.Whose{}.Forget(left.path)
	a.publish(in, who, left.path)
}

// dropLeft removes the recordings of an earlier agent whose programs live on.
func (a *agent) dropLeft() {
	a.mu.Lock()
	left := a.leftBehind
	a.leftBehind = map[string]leftRecording{}
	a.mu.Unlock()
	for _, l := range left {
		a.drop(l.path)
	}
}

// counts is the cgroup whose kills are counted for that of a program: version 2 counts those
// of a container at its pod too, which stays when the container is made anew.
func counts(h *cgroup.Hierarchy, home string) string {
	if h != nil && h.Version == 2 && container.KindOf(path.Dir(home)) == container.OfPod {
		return path.Dir(home)
	}
	return home
}

// note has the kills of a cgroup counted.
func (a *agent) note(group string, who fleet.Identity) {
	if group == "" || group == "/" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.groups) < mostCauses {
		a.groups[group] = who
	}
}

// listContainers has the kills of all containers counted, with a Go program or without. An
// agent in a PID namespace of its own sees what is in it, and no containers of the machine.
func (a *agent) listContainers() {
	if a.hierarchy == nil || !firstNamespace() {
		return
	}
	machine := a.machine
	machine.Mount = a.hierarchy.Mount
	for _, c := range machine.List() {
		group := counts(a.hierarchy, "/"+strings.Trim(strings.TrimPrefix(c.Path, a.hierarchy.Mount), "/"))
		a.mu.Lock()
		_, known := a.groups[group]
		a.mu.Unlock()
		if !known {
			a.note(group, fleet.Identity{Service: container.Workload(c.Pod), Namespace: c.Namespace, Pod: c.Pod, PodUID: c.PodUID, Container: c.Name, ContainerID: c.ID,
				Image: machine.Image(firstOf(c.Path), c.ID)})
		}
	}
}

// firstOf is a process of a cgroup, 0 for none.
func firstOf(dir string) int {
	procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(procs), "\n")
	pid, _ := strconv.Atoi(first) // 0: nobody is there
	return pid
}

// firstNamespace says whether this process sees all of the machine: the first PID namespace
// has the number PROC_PID_INIT_INO (linux/proc_ns.h).
func firstNamespace() bool {
	ns, err := os.Readlink("/proc/self/ns/pid")
	return err == nil && ns == "pid:["+strconv.Itoa(0xEFFFFFFC)+"]"
}
