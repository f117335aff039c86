package watch

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// kept is a sink that keeps everything.
type kept struct {
	programs []sample.Program
	sites    map[sample.ProcessKey][]sample.Site
	events   []sample.Event
	gaps     []sample.Gap
	moments  []*sample.Moment
	cycles   []sample.GCCycle
	points   int
	unknown  int // points of a process that no program was told of
	onPoint  func(*sample.Point)
}

func (k *kept) Program(p sample.Program) error { k.programs = append(k.programs, p); return nil }
func (k *kept) Sites(key sample.ProcessKey, first int, sites []sample.Site) error {
	if k.sites == nil {
		k.sites = map[sample.ProcessKey][]sample.Site{}
	}
	k.sites[key] = append(k.sites[key][:first], sites...)
	return nil
}
func (k *kept) Point(p *sample.Point) error {
	k.points++
	for _, one := range p.Processes {
		if !slices.ContainsFunc(k.programs, func(q sample.Program) bool { return q.Key == one.Key }) {
			k.unknown++
		}
	}
	if k.onPoint != nil {
		k.onPoint(p)
	}
	return nil
}
func (k *kept) Cycle(c sample.GCCycle) error                      { k.cycles = append(k.cycles, c); return nil }
func (k *kept) Event(e sample.Event) error                        { k.events = append(k.events, e); return nil }
func (k *kept) Gap(g sample.Gap) error                            { k.gaps = append(k.gaps, g); return nil }
func (k *kept) Heap(sample.ProcessKey, *sample.HeapProfile) error { return nil }
func (k *kept) Moment(m *sample.Moment) error                     { k.moments = append(k.moments, m); return nil }
func (k *kept) Flush() error                                      { return nil }

// named are the programs of that name.
func (k *kept) named(name string) (out []sample.Program) {
	for _, p := range k.programs {
		if p.Name == name {
			out = append(out, p)
		}
	}
	return out
}

// death is the moment of a process's end, nil if none was kept.
func (k *kept) death(key sample.ProcessKey) *sample.ProcessMoment {
	for _, m := range k.moments {
		if m.Kind == sample.MomentDeath && m.Processes[0].Key == key {
			return &m.Processes[0]
		}
	}
	return nil
}

// gapText is all gaps in one text.
func (k *kept) gapText() string {
	var b strings.Builder
	for _, g := range k.gaps {
		b.WriteString(g.What + ": " + g.Why + "\n")
	}
	return b.String()
}

// run runs a program to its end under a source and gives what was seen.
func run(t *testing.T, o Options, k *kept, args ...string) int {
	t.Helper()
	return runWith(t, o, k, func(*Source) {}, args...)
}

// runWith is run for who wants the source, too.
func runWith(t *testing.T, o Options, k *kept, made func(*Source), args ...string) int {
	t.Helper()
	hwtest.Need(t, hwtest.Ptrace)
	source, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	made(source)
	path := args[0]
	if !strings.HasPrefix(path, "/") {
		path = "/bin/" + path
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, err := source.Start(Command{Path: path, Args: args, Files: []*os.File{null, null, null}, OwnGroup: true}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := (&capture.Loop{Source: source, Sink: k}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		source.Kill()
		t.Fatal("the program did not end within a minute")
	}
	if k.unknown > 0 {
		t.Errorf("%d points of processes that no program was told of", k.unknown)
	}
	return source.ExitCode()
}

func testprog(t *testing.T, name string) string {
	t.Helper()
	return hwtest.Build(t, "../../aside/testprog/"+name, hwtest.BuildOptions{})
}

// group is a cgroup for one test.
func group(t *testing.T, limit sample.Bytes) *cgroup.Cgroup {
	t.Helper()
	return hwtest.Limit(t, limit)
}

func TestAnExitIsSeenWithItsCodeAndMoment(t *testing.T) {
	t.Parallel()
	k := &kept{}
	if code := run(t, Options{HeapProfile: true}, k, testprog(t, "quick"), "-code", "7"); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
	p := k.named("quick")
	if len(p) != 1 || p[0].Go == nil || p[0].HeapProfile != sample.HeapProfileEnabled {
		t.Fatalf("programs %+v", p)
	}
	d := k.death(p[0].Key)
	if d == nil || d.ExitCode != sample.Some(7) || d.Go == nil || d.Residency == nil || d.Incomplete != "" {
		t.Errorf("the moment of its end: %+v", d)
	}
	last := k.events[len(k.events)-1]
	if last.Kind != sample.EventExit || last.Value != 7 {
		t.Errorf("last event %+v", last)
	}
}

func TestShellsAreFollowedToThePrograms(t *testing.T) {
	t.Parallel()
	quick := testprog(t, "quick")
	for _, c := range []struct {
		name, script string
		code         int
	}{
		{"a child", quick + "; exit 3", 3},
		{"exec", "exec " + quick + " -code 5", 5},
		{"a pipeline", quick + " | cat", 0},
		{"in the background", quick + " & wait", 0},
		{"left behind", quick + " & exit 4", 4},
		{"two shells deep", "sh -c 'sh -c " + quick + "'", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &kept{}
			if code := run(t, Options{HeapProfile: true}, k, "sh", "-c", c.script); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			p := k.named("quick")
			if len(p) != 1 || p[0].HeapProfile != sample.HeapProfileEnabled {
				t.Fatalf("programs %+v; gaps %s", p, k.gapText())
			}
			if d := k.death(p[0].Key); d == nil || d.Go == nil {
				t.Errorf("the moment of its end: %+v", d)
			}
		})
	}
}

func TestTheHeapProfileIsLeftAloneOnRequest(t *testing.T) {
	t.Parallel()
	k := &kept{}
	run(t, Options{}, k, testprog(t, "quick"))
	if p := k.named("quick"); len(p) != 1 || p[0].HeapProfile != sample.HeapProfileOff || !strings.Contains(p[0].WhyNot, "linker") {
		t.Errorf("programs %+v", p)
	}
	if !strings.Contains(k.gapText(), "the heap profile of quick") {
		t.Errorf("no gap says so: %s", k.gapText())
	}
}

func TestEveryAllocationIsSampledAtRateOne(t *testing.T) {
	t.Parallel()
	k := &kept{}
	run(t, Options{HeapProfile: true, ProfileRate: 1}, k, testprog(t, "leak"), "-max", "4MiB", "-rate", "0", "-for", "1s")
	p := k.named("leak")
	d := k.death(p[0].Key)
	if d == nil || d.Profile == nil || d.Profile.Rate != 1 {
		t.Fatalf("the moment of its end: %+v", d)
	}
	var bytes sample.Bytes
	for i, c := range d.Profile.Counts {
		bytes += sample.Bytes(c.NowAllocs) * k.sites[p[0].Key][i].Size
	}
	if total := d.Go.TotalAlloc; bytes < total-total/10 || bytes > total+total/10 {
		t.Errorf("the profile counts %d bytes allocated, the runtime %d", bytes, total)
	}
}

func TestWhatCannotBeReadIsNamedAndTheRestWorks(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Toolchain("go1.19.13"))
	for _, c := range []struct {
		name   string
		build  hwtest.BuildOptions
		reason string
	}{
		{"too old", hwtest.BuildOptions{Toolchain: "go1.19.13", Env: []string{"GOFLAGS=-mod=mod"}}, "go1.19.13"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &kept{}
			run(t, Options{HeapProfile: true}, k, hwtest.Build(t, "testdata/old", c.build))
			p := k.named("old")
			if len(p) != 1 || p[0].Go == nil || p[0].HeapProfile != sample.HeapProfileUnknown {
				t.Fatalf("programs %+v", p)
			}
			if !strings.Contains(k.gapText(), c.reason) {
				t.Errorf("gaps %q, want one that says %q", k.gapText(), c.reason)
			}
			if d := k.death(p[0].Key); d == nil || d.Residency == nil || d.Residency.GoKnown || d.Go != nil {
				t.Errorf("the moment of its end: %+v", d)
			}
		})
	}
}

func TestAKillByTheLimitIsTheKernels(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
	k := &kept{}
	code := run(t, Options{HeapProfile: true, Group: group(t, 64*sample.MiB)}, k, testprog(t, "leak"), "-rate", "0")
	if code != 128+int(syscall.SIGKILL) {
		t.Errorf("exit code %d", code)
	}
	p := k.named("leak")[0]
	i := slices.IndexFunc(k.events, func(e sample.Event) bool { return e.Kind == sample.EventOOMKill })
	if i < 0 || k.events[i].Process != p.Key {
		t.Errorf("events %+v, want the kernel's kill of the program", k.events)
	}
	d := k.death(p.Key)
	if d == nil || d.Signal != int(syscall.SIGKILL) || d.Live == nil || d.Incomplete != "" {
		t.Errorf("the moment of its end: %+v", d)
	}
}

// What came into the cgroup since the last scan, and nobody told of, has its row.
func TestWhoCameJustBeforeAKillIsInItsMoment(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
	k, g := &kept{}, group(t, 64*sample.MiB)
	late := exec.Command("sleep", "1")
	k.onPoint = func(p *sample.Point) {
		if len(p.Processes) == 0 || p.Processes[0].Go == nil || late.Process != nil {
			return
		}
		if err := late.Start(); err != nil {
			t.Error(err)
		} else if err := g.Add(late.Process.Pid); err != nil {
			t.Error(err)
		}
		_ = syscall.Kill(p.Processes[0].Key.PID, syscall.SIGKILL)
	}
	run(t, Options{Group: g}, k, testprog(t, "ticker"))
	_ = late.Wait()
	for _, m := range k.moments {
		if m.Kind == sample.MomentDeath && m.Processes[0].Signal == int(syscall.SIGKILL) {
			if !slices.ContainsFunc(m.Processes, func(p sample.ProcessMoment) bool { return p.Key.PID == late.Process.Pid && p.Resident != nil }) {
				t.Errorf("processes %+v, want pid %d among them", m.Processes, late.Process.Pid)
			}
			return
		}
	}
	t.Error("no moment of the kill")
}

func TestAKillByHandIsNotTheKernels(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
	k := &kept{}
	k.onPoint = func(p *sample.Point) {
		if len(p.Processes) > 0 && p.Processes[0].Go != nil {
			_ = syscall.Kill(p.Processes[0].Key.PID, syscall.SIGKILL)
		}
	}
	run(t, Options{HeapProfile: true, Group: group(t, 64*sample.MiB)}, k, testprog(t, "ticker"))
	if slices.ContainsFunc(k.events, func(e sample.Event) bool { return e.Kind == sample.EventOOMKill }) {
		t.Errorf("events %+v: a kill by hand passes for the kernel's", k.events)
	}
	if d := k.death(k.named("ticker")[0].Key); d == nil || d.Signal != int(syscall.SIGKILL) {
		t.Errorf("the moment of its end: %+v", d)
	}
}

// A stand-in for systemd-run: it moves itself into a cgroup and execs.
func TestACgroupThatTheProgramIsMovedIntoIsFound(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
	g := group(t, 64*sample.MiB)
	h, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{}
	script := "echo $$ > " + g.Dir + "/cgroup.procs && exec " + testprog(t, "leak") + " -rate 0"
	if code := run(t, Options{HeapProfile: true, Scopes: h}, k, "sh", "-c", script); code != 137 {
		t.Errorf("exit code %d, want a kill by the limit", code)
	}
	if !slices.ContainsFunc(k.events, func(e sample.Event) bool { return e.Kind == sample.EventOOMKill }) {
		t.Errorf("events %+v, want the kernel's kill", k.events)
	}
	for _, m := range k.moments {
		if m.Kind == sample.MomentDeath && (m.Cgroup == nil || m.Cgroup.Limit.V != 64*sample.MiB) {
			t.Errorf("the cgroup at its end: %+v", m.Cgroup)
		}
	}
}
