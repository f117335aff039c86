package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/record/watch"
	"github.com/highwater-go/highwater/internal/words/sample"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// check is one thing that doctor looked at.
type check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
	// Costs is what does not work without it.
	Costs string `json:"costs,omitempty"`
}

func PrintChecks(s *Streams, checks []check) {
	works := true
	for _, c := range checks {
		mark := "ok"
		if !c.OK {
			mark, works = "no", false
		}
		visible.Fprintf(s.Out, "%-44s %-4s %s\n", c.Name, mark, c.Says)
		if !c.OK && c.Costs != "" {
			visible.Fprintf(s.Out, "%-44s      without it: %s\n", "", c.Costs)
		}
	}
	if works {
		visible.Fprintf(s.Out, "\nhighwater run --limit 256MiB -- PROGRAM\n")
		return
	}
	visible.Fprintf(s.Out, "\nhighwater run -- PROGRAM      works without these; the answer says what it could not see\n")
}

// MachineChecks tries everything on things of our own.
func MachineChecks(ctx context.Context) []check {
	kernel := check{Name: "kernel", OK: true, Says: "Linux " + readLine("/proc/sys/kernel/osrelease")}
	if readLine("/proc/sys/kernel/osrelease") == "" {
		return []check{{Name: "kernel", Says: "not Linux", Costs: "run; explain, list and export work everywhere"}}
	}
	checks := append([]check{kernel, HomeCheck(os.Getpid()), cgroupCheck(ctx), faultsCheck(), filesCheck()}, attachChecks()...)
	return append(checks, breathCheck(ctx)...)
}

// cgroupCheck makes a cgroup with a limit and removes it.
func cgroupCheck(ctx context.Context) check {
	c := check{Name: "a cgroup with a memory limit", Costs: "--limit, and memory tables that sum to the kernel's own figure"}
	h, err := cgroup.Detect("/")
	if err != nil {
		c.Says = err.Error()
		return c
	}
	o := cgroup.Options{Name: "doctor", Limit: 64 * sample.MiB}
	g, err := h.Create(o)
	if err != nil {
		if tryScope(ctx, h, o) == nil {
			c.OK, c.Says = true, fmt.Sprintf("cgroup v%d, in a scope of the user's systemd", h.Version)
			return c
		}
		c.Says = noGroup(err)
		if !errors.Is(firstReason(err), fs.ErrPermission) {
			c.Says += ": " + firstReason(err).Error()
		}
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, removeWait)
	defer cancel()
	if err := g.Remove(ctx); err != nil {
		c.Says = err.Error()
		return c
	}
	c.OK, c.Says = true, fmt.Sprintf("cgroup v%d", h.Version)
	return c
}

// attachChecks are whether programs that highwater did not start may be watched.
func attachChecks() []check {
	own := check{Name: "memory of your other programs", OK: true, Says: "allowed", Costs: "watch, except for the kernel's figures (--rss-only); run still works"}
	others := check{Name: "memory of other users' programs", OK: true, Says: "allowed (CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH)",
		Costs: "watch of other users' programs, except for the kernel's figures"}
	privileged, scope := watch.MayTraceAll("/proc"), watch.YamaScope("/proc")
	if !privileged {
		others.OK, others.Says = false, "needs root, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"
	} else if !watch.MayReadAll("/proc") {
		others.OK, others.Says = false, "has CAP_SYS_PTRACE, and needs CAP_DAC_READ_SEARCH too"
	} else if err := tryOthers(); err != nil {
		others.OK, others.Says = false, err.Error()
	}
	if scope == 3 || scope > 0 && !privileged {
		own.OK, own.Says = false, fmt.Sprintf("kernel.yama.ptrace_scope is %d: %s", scope, watch.YamaSays(scope))
	}
	if scope == 3 {
		others.OK, others.Says = false, own.Says
	}
	return []check{own, others}
}

// mostTried bounds the processes that are tried: one may be protected as no other is.
const mostTried = 16

// tryOthers opens the memory of a process of another user, if there is one, and reads
// nothing of it. The error is that of the first where none can be opened.
func tryOthers() (first error) {
	pids, err := procfs.Processes("/proc")
	if err != nil {
		return err
	}
	tried := 0
	for _, pid := range pids {
		if tried == mostTried {
			break
		}
		if uid, err := procfs.UserOf("/proc", pid); err != nil || uid == os.Geteuid() {
			continue
		}
		m, err := procfs.OpenMemory("/proc", pid)
		if errors.Is(err, procfs.ErrGone) {
			continue
		}
		if err == nil {
			m.Close()
			return nil
		}
		if tried++; first == nil {
			first = fmt.Errorf("tried on process %d: %w", pid, err)
		}
	}
	return first
}

// breathCheck starts a child, kills it, and looks at what was read of it.
func breathCheck(ctx context.Context) []check {
	figures := check{Name: "reading a Go program's runtime", Costs: "the Go heap's figures, and the line that allocated the memory"}
	breath := check{Name: "state at the exit (tested on a child)", Costs: "what the memory held at the kill; highwater uses the last sample before the kill"}
	m, err := killChild(ctx)
	if err != nil {
		figures.Says, breath.Says = err.Error(), err.Error()
		return []check{figures, breath}
	}
	p := m.Processes[0]
	figures.OK = p.Go != nil && p.Profile != nil
	if figures.OK {
		figures.Says = fmt.Sprintf("tested on a child: %s, live heap %s", units.Count(int(p.Go.Goroutines), "goroutine"), units.Size(p.Go.HeapLive))
	} else {
		figures.Says = "nothing was read"
	}
	breath.OK = p.Signal == 9 && p.Residency != nil && p.Incomplete == ""
	breath.Says = fmt.Sprintf("complete, %s", units.Duration(m.Took))
	if !breath.OK {
		breath.Says = "incomplete: " + p.Incomplete
	}
	return []check{figures, breath}
}

// killChild starts this very program, waits until its runtime can be read, kills
// it, and returns the moment of its death.
func killChild(ctx context.Context) (*sample.Moment, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	source, err := watch.New(watch.Options{HeapProfile: true})
	if err != nil {
		return nil, err
	}
	defer source.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if _, err := source.Start(watch.Command{Path: exe, Args: []string{exe, WaitName}, Files: []*os.File{null, null, null}, OwnGroup: true}); err != nil {
		return nil, err
	}
	defer source.Kill()
	var kept deaths
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	loop := &capture.Loop{Source: source, Sink: &kept, OnPoint: func(p *sample.Point) {
		if len(p.Processes) > 0 && p.Processes[0].Go != nil {
			_ = source.Kill()
		}
	}}
	if err := loop.Run(ctx); err != nil {
		return nil, err
	}
	switch {
	case kept.moment != nil:
		return kept.moment, nil
	case kept.gap != "":
		return nil, errors.New(kept.gap)
	}
	return nil, errors.New("the child's end was not seen")
}

// deaths is a sink that keeps the moment of a death only.
type deaths struct {
	moment *sample.Moment
	gap    string
}

func (*deaths) Program(sample.Program) error                      { return nil }
func (*deaths) Sites(sample.ProcessKey, int, []sample.Site) error { return nil }
func (*deaths) Point(*sample.Point) error                         { return nil }
func (*deaths) Cycle(sample.GCCycle) error                        { return nil }
func (*deaths) Event(sample.Event) error                          { return nil }
func (*deaths) Heap(sample.ProcessKey, *sample.HeapProfile) error { return nil }
func (*deaths) Flush() error                                      { return nil }
func (d *deaths) Gap(g sample.Gap) error                          { d.gap = g.What + ": " + g.Why; return nil }
func (d *deaths) Moment(m *sample.Moment) error {
	if m.Kind == sample.MomentDeath && len(m.Processes) > 0 {
		d.moment = m
	}
	return nil
}

// WaitName is a hidden command that does nothing until it is killed.
const WaitName = "wait-to-be-killed"
