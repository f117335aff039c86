package report

import (
	"math"
	"time"

	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/measure/heapdiff"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// MomentOf is the moment of the evidence. Programs are as they were recorded, and
// sitesOf the allocation sites of a process.
func MomentOf(e *explain.Evidence, programs []sample.Program, sitesOf func(sample.ProcessKey) ([]sample.Site, error)) (*Moment, error) {
	m := e.Moment
	out := &Moment{Schema: MomentSchema, Recording: e.Recording, Moment: e.At, At: m.At, Elapsed: m.At.Sub(e.Start).Seconds(), Kind: string(m.Kind),
		Took: m.Took, Stopped: m.Stopped, Cgroup: cgroupOf(m.Cgroup), After: cgroupOf(m.CgroupAfter), Processes: []MomentProcess{}}
	for i := range m.Processes {
		p := processOf(&m.Processes[i])
		p.Subject = m.Processes[i].Key == e.Subject
		for k := range programs {
			if programs[k].Key == m.Processes[i].Key {
				p.Program = programOf(&programs[k]) // the last one: an exec adds another
			}
		}
		if m.Processes[i].Profile != nil {
			sites, err := sitesOf(m.Processes[i].Key)
			if err != nil {
				return nil, err
			}
			p.Heap = heapOf(&m.Processes[i], sites)
		}
		out.Processes = append(out.Processes, p)
	}
	return out, nil
}

// seen is a pointer to a value that was seen, nil else.
func seen[T any](o sample.Opt[T]) *T {
	if !o.OK {
		return nil
	}
	return &o.V
}

// all is a list that is never nil.
func all[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func cgroupOf(c *sample.Cgroup) *MomentCgroup {
	if c == nil {
		return nil
	}
	out := &MomentCgroup{Usage: c.Usage, Peak: seen(c.Peak), Limit: seen(c.Limit)}
	if s := c.Stat; s != nil {
		out.Stat = &MomentStat{Anon: s.Anon, PageCache: s.PageCache, Shmem: s.Shmem, Kernel: s.Kernel, Sock: seen(s.Sock), ActiveFile: s.ActiveFile,
			InactiveFile: s.InactiveFile, Dirty: s.Dirty, Writeback: s.Writeback, KernelStack: seen(s.KernelStack), PageTables: seen(s.PageTables),
			Slab: seen(s.Slab), MajorFaults: s.MajorFaults, Refaults: seen(s.Refaults), Scanned: seen(s.Scanned)}
	}
	if e := c.Events; e != nil {
		out.Event = &MomentCounter{High: e.High, Max: e.Max, OOM: seen(e.OOM), OOMKill: e.OOMKill}
	}
	return out
}

func processOf(p *sample.ProcessMoment) MomentProcess {
	out := MomentProcess{PID: p.Key.PID, StartTicks: p.Key.Start, Signal: p.Signal, ExitCode: seen(p.ExitCode), Incomplete: p.Incomplete,
		Residency: residencyOf(p.Residency), Runtime: runtimeOf(p.Go), Goroutines: []MomentGoroutine{}, Metrics: metricsOf(p.Metrics)}
	if r := p.Resident; r != nil {
		out.Resident = &MomentResident{Total: r.Total, Shared: r.Shared, Threads: r.Threads, User: r.User, System: r.System, Majflt: r.Majflt}
	}
	if l := p.Live; l != nil {
		out.Live = &MomentLive{Objects: l.Objects, Bytes: l.Bytes, Took: l.Took}
	}
	for _, g := range p.Goroutines {
		out.Goroutines = append(out.Goroutines, goroutineOf(&g))
	}
	return out
}

func goroutineOf(g *sample.GoroutineGroup) MomentGoroutine {
	out := MomentGoroutine{State: g.State, Reason: g.Reason, Count: g.Count, StackBytes: g.StackBytes, Oldest: g.Oldest,
		Stack: framesOf(g.Where), FrameBytes: []sample.Bytes{}, CreatedBy: framesOf([]sample.Location{g.CreatedAt}), Labels: []MomentLabel{}}
	for i, l := range g.Where {
		for k := range l.Frames {
			size := sample.Bytes(0)
			if k == len(l.Frames)-1 && i < len(g.Frames) {
				size = g.Frames[i]
			}
			out.FrameBytes = append(out.FrameBytes, size)
		}
	}
	for _, l := range g.Labels {
		out.Labels = append(out.Labels, MomentLabel(l))
	}
	return out
}

func metricsOf(m *sample.RuntimeMetrics) *MomentMetrics {
	if m == nil {
		return nil
	}
	out := &MomentMetrics{At: m.At, Values: []MomentMetric{}, Histograms: []MomentHistogram{}}
	for _, v := range m.Values {
		out.Values = append(out.Values, MomentMetric(v))
	}
	for _, h := range m.Histograms {
		buckets := []MomentBucket{}
		for i, n := range h.Counts {
			if n > 0 {
				buckets = append(buckets, MomentBucket{finite(h.Bounds[i]), finite(h.Bounds[i+1]), n})
			}
		}
		out.Histograms = append(out.Histograms, MomentHistogram{h.Name, buckets})
	}
	return out
}

// finite is nil for an infinite bound.
func finite(bound float64) *float64 {
	if math.IsInf(bound, 0) {
		return nil
	}
	return &bound
}

func framesOf(stack []sample.Location) []sample.Place {
	out := []sample.Place{}
	for _, l := range stack {
		for _, f := range l.Frames {
			out = append(out, f.Place())
		}
	}
	return out
}

func programOf(p *sample.Program) *MomentProgram {
	out := &MomentProgram{Name: p.Name, Exe: p.Exe, Args: all(p.Args), Parent: p.Parent, HeapProfile: string(p.HeapProfile), WhyNot: p.WhyNot}
	if g := p.Go; g != nil {
		out.Go = &MomentGo{Version: g.Version, Experiments: all(g.Experiments), Module: g.Module, ModuleVersion: g.ModuleVersion, MainPackage: g.MainPackage,
			Revision: g.Revision, BuildID: g.BuildID, Arch: g.Arch, PIE: g.PIE, CGO: g.CGO, Stripped: g.Stripped, FoundBy: g.FoundBy, Deps: []MomentModule{}}
		for _, d := range g.Deps {
			out.Go.Deps = append(out.Go.Deps, MomentModule{d.Path, d.Version})
		}
	}
	return out
}

func residencyOf(r *sample.Residency) *MomentResidency {
	if r == nil {
		return nil
	}
	return &MomentResidency{Anon: r.Anon, File: r.File, Shmem: r.Shmem, Swap: r.Swap, GoKnown: r.GoKnown, GoObjects: r.GoObjects, GoIdle: r.GoIdle,
		GoStacks: r.GoStacks, GoRuntime: r.GoRuntime, CMalloc: r.CMalloc, Mmap: r.Mmap, Image: r.Image, Untouched: r.Untouched,
		UntouchedNew: r.UntouchedNew, PageTables: r.PageTables}
}

func runtimeOf(g *sample.Runtime) *MomentRuntime {
	if g == nil {
		return nil
	}
	out := &MomentRuntime{GOGC: g.GOGC, HeapLive: g.HeapLive, HeapMarked: g.HeapMarked, HeapGoal: g.HeapGoal, Trigger: g.Trigger,
		TotalAlloc: g.TotalAlloc, TotalFree: g.TotalFree, HeapInUse: g.HeapInUse, HeapFree: g.HeapFree, HeapReleased: g.HeapReleased,
		MappedReady: g.MappedReady, StackInUse: g.StackInUse, StackSys: g.StackSys, MSpanSys: g.MSpanSys, MCacheSys: g.MCacheSys,
		BuckHash: g.BuckHash, GCSys: g.GCSys, OtherSys: g.OtherSys, NumGC: g.NumGC, NumForcedGC: g.NumForcedGC, GCPhase: phaseName(g.GCPhase),
		PauseTotal: g.PauseTotal, GCAssist: g.GCAssist, GCDedicated: g.GCDedicated, GCIdle: g.GCIdle, GCPause: g.GCPause, CPUTotal: g.CPUTotal,
		GCCPU: g.GCCPUFraction, Goroutines: g.Goroutines, ProfileRate: g.ProfileRate}
	if g.MemoryLimit != sample.NoMemoryLimit {
		out.MemoryLimit = &g.MemoryLimit
	}
	if at := g.LastGC; !at.IsZero() {
		out.LastGC = new(time.Time)
		*out.LastGC = at
	}
	return out
}

func phaseName(p sample.GCPhase) string {
	switch p {
	case sample.GCMark:
		return "mark"
	case sample.GCMarkTermination:
		return "mark termination"
	}
	return "off"
}

func heapOf(p *sample.ProcessMoment, sites []sample.Site) *MomentHeap {
	profile, view := heldBy(p)
	out := &MomentHeap{At: profile.At, Rate: profile.Rate, View: view, Sites: []MomentSite{}}
	for i, c := range profile.Counts[:min(len(sites), len(profile.Counts))] {
		s := sites[i]
		held, allocated := heapdiff.Now.InUse(c), heapdiff.Now.Allocs(c)
		if held == 0 && allocated == 0 {
			continue
		}
		h, a := heapdiff.Scale(held, s.Size, profile.Rate), heapdiff.Scale(allocated, s.Size, profile.Rate)
		out.Sites = append(out.Sites, MomentSite{ObjectBytes: s.Size, HeldObjects: h.Objects, HeldBytes: h.Bytes, AllocatedObjects: a.Objects,
			AllocatedBytes: a.Bytes, ErrorBytes: int64(heapdiff.Error(held, s.Size, profile.Rate)), Stack: framesOf(s.Stack)})
	}
	return out
}
