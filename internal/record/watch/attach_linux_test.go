package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/capture"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// other is a program that was started without a source. Its input is open until
// the test closes it.
type other struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	pid int
}

// startOther starts a program, in a cgroup if dir is given.
func startOther(t testing.TB, dir string, args ...string) *other {
	t.Helper()
	name := filepath.Base(args[0])
	if dir != "" {
		args = append([]string{"sh", "-c", "echo $$ > " + dir + `/cgroup.procs && exec "$@"`, "sh"}, args...)
	}
	o := &other{cmd: exec.Command(args[0], args[1:]...)}
	var err error
	if o.in, err = o.cmd.StdinPipe(); err == nil {
		err = o.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	o.pid = o.cmd.Process.Pid
	t.Cleanup(func() { o.cmd.Process.Kill(); o.in.Close(); o.cmd.Wait() })
	if dir != "" {
		await(t, func() bool { now, _ := procfs.Name("/proc", o.pid); return now == name })
	}
	return o
}

// await waits for something that comes soon.
func await(t testing.TB, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come")
		}
	}
}

// tracers are the threads that trace a thread of a process, 0 for none of them.
func tracers(t testing.TB, pid int) (found []int) {
	t.Helper()
	threads, err := procfs.Threads("/proc", pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, tid := range threads {
		if tracer, err := procfs.TracerOf("/proc", tid); err == nil && tracer != 0 {
			found = append(found, tracer)
		}
	}
	return found
}

func stateOf(pid int) procfs.State {
	st, _ := procfs.StateOf("/proc", pid)
	return st
}

// attached is a source of a program that runs, and what it says.
type attached struct {
	*Source
	said []string
}

func attachTo(t testing.TB, pid int, o Options, h *cgroup.Hierarchy) *attached {
	t.Helper()
	hwtest.Need(t, hwtest.Ptrace)
	a := &attached{}
	o.Narrow, o.Home = true, h != nil
	o.Say = func(line string) { a.said = append(a.said, line) }
	var err error
	if a.Source, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	if _, err := a.Attach(pid); err != nil {
		t.Fatal(err)
	}
	return a
}

// watch runs the loop until the source is done or ctx ends.
func (a *attached) watch(t testing.TB, ctx context.Context, k *kept) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := (&capture.Loop{Source: a, Sink: k}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Fatal("the watch did not end within a minute")
	}
}

// atPoint ends a watch once a point is as it should be.
func (k *kept) atPoint(t testing.TB, so func(*sample.Point) bool) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	k.onPoint = func(p *sample.Point) {
		if so(p) {
			cancel()
		}
	}
	return ctx
}

func hasFigures(p *sample.Point) bool { return len(p.Processes) > 0 && p.Processes[0].Go != nil }

func TestAProgramThatRunsIsWatchedToItsEnd(t *testing.T) {
	t.Parallel()
	o := startOther(t, "", testprog(t, "ticker"))
	a := attachTo(t, o.pid, Options{}, nil)
	k := &kept{onPoint: func(p *sample.Point) {
		if hasFigures(p) {
			o.cmd.Process.Signal(syscall.SIGTERM)
		}
	}}
	if n := len(tracers(t, o.pid)); n != 1 {
		t.Errorf("%d of its threads are traced, want one", n)
	}
	a.watch(t, t.Context(), k)
	p := k.named("ticker")
	if len(p) != 1 || p[0].HeapProfile != sample.HeapProfileOff || !strings.Contains(p[0].WhyNot, "--enable-heap-profile") {
		t.Fatalf("programs %+v", p)
	}
	if d := k.death(p[0].Key); d == nil || d.Signal != int(syscall.SIGTERM) || d.Go == nil || d.Incomplete != "" {
		t.Errorf("the moment of its end: %+v", d)
	}
	if code := a.ExitCode(); code != 143 {
		t.Errorf("exit code %d", code)
	}
}

func TestAWatchThatEndsLeavesNoTrace(t *testing.T) {
	t.Parallel()
	o := startOther(t, "", testprog(t, "ticker"))
	a := attachTo(t, o.pid, Options{}, nil)
	k := &kept{}
	a.watch(t, k.atPoint(t, hasFigures), k)
	a.Close()
	if n := len(tracers(t, o.pid)); n != 0 {
		t.Errorf("%d of its threads are still traced", n)
	}
	if last := k.moments[len(k.moments)-1]; last.Kind != sample.MomentEnd {
		t.Errorf("the last moment is %s", last.Kind)
	}
}

func TestTheHeapProfileOfARunningProgramIsSwitchedOnWhenAskedFor(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]hwtest.BuildOptions{"plain": {}, "stripped": {Strip: true}, "PIE": {PIE: true}} {
		t.Run(name, func(t *testing.T) {
			o := startOther(t, "", hwtest.Build(t, "../../aside/testprog/leak", build), "-rate", "20MiB", "-max", "200MiB")
			off := attachTo(t, o.pid, Options{}, nil)
			k := &kept{}
			off.watch(t, k.atPoint(t, hasFigures), k)
			if p := k.named("leak"); len(p) != 1 || p[0].HeapProfile != sample.HeapProfileOff || len(off.said) > 0 {
				t.Fatalf("without the flag: programs %+v, said %q", p, off.said)
			}
			off.Close()

			on := attachTo(t, o.pid, Options{EnableRunning: true}, nil)
			k = &kept{}
			var before sample.Bytes
			on.watch(t, k.atPoint(t, func(p *sample.Point) bool {
				if !hasFigures(p) {
					return false
				}
				if before == 0 {
					before = p.Processes[0].Go.TotalAlloc
				}
				return p.Processes[0].Go.TotalAlloc > before+24*sample.MiB
			}), k)
			p := k.named("leak")
			if len(p) != 1 || p[0].HeapProfile != sample.HeapProfileEnabled || len(on.said) != 1 || !strings.Contains(on.said[0], "MemProfileRate 0 -> 524288") {
				t.Fatalf("with the flag: programs %+v, said %q; gaps %s", p, on.said, k.gapText())
			}
			last := k.moments[len(k.moments)-1].Processes[0]
			if last.Profile == nil || last.Profile.Rate != 512<<10 {
				t.Fatalf("profile %+v", last.Profile)
			}
			var sampled uint64
			for i, c := range last.Profile.Counts {
				if k.sites[p[0].Key][i].Size == 64*sample.KiB {
					sampled += c.NowAllocs
				}
			}
			// A block of 64 KiB is sampled with p = 1 - exp(-1/8) = 0.12: of 16 MiB
			// and more in such blocks, 30 are expected.
			if sampled < 8 {
				t.Errorf("%d blocks of 64 KiB were sampled", sampled)
			}
			on.Close()

			again := attachTo(t, o.pid, Options{EnableRunning: true}, nil)
			if len(again.said) > 0 {
				t.Errorf("the second time it says %q", again.said)
			}
		})
	}
}

func TestATracedProgramIsWatchedWithoutItsLastBreath(t *testing.T) {
	t.Parallel()
	o := startOther(t, "", testprog(t, "ticker"))
	first := attachTo(t, o.pid, Options{}, nil)
	second := attachTo(t, o.pid, Options{}, nil)
	if len(second.said) != 1 || !strings.Contains(second.said[0], "watch.test (pid ") || !strings.Contains(second.said[0], "already traces the process") {
		t.Errorf("said %q", second.said)
	}
	k := &kept{onPoint: func(p *sample.Point) {
		if hasFigures(p) {
			o.cmd.Process.Kill()
		}
	}}
	go func() { first.watch(t, t.Context(), &kept{}); first.Close(); o.cmd.Wait() }()
	second.watch(t, t.Context(), k)
	if !strings.Contains(k.gapText(), "the state at the exit of ticker") {
		t.Errorf("gaps %s", k.gapText())
	}
	if last := k.events[len(k.events)-1]; last.Kind != sample.EventExit || last.Text != "unseen" {
		t.Errorf("last event %+v", last)
	}
}

func TestAStoppedProgramStaysStopped(t *testing.T) {
	t.Parallel()
	o := startOther(t, "", testprog(t, "ticker"))
	await(t, func() bool { threads, _ := procfs.Threads("/proc", o.pid); return len(threads) > 2 })
	o.cmd.Process.Signal(syscall.SIGSTOP)
	await(t, func() bool { return stateOf(o.pid) == 'T' })
	a := attachTo(t, o.pid, Options{}, nil)
	k := &kept{}
	a.watch(t, k.atPoint(t, func(p *sample.Point) bool { return len(p.Processes) > 0 && p.Processes[0].Resident != nil }), k)
	a.Close()
	if st := stateOf(o.pid); st != 'T' {
		t.Errorf("its state is %c", st)
	}
	if len(k.moments) == 0 {
		t.Error("no moment of it was kept")
	}
	o.cmd.Process.Signal(syscall.SIGCONT)
	await(t, func() bool { return stateOf(o.pid) == 'S' })
}

func TestAProcessIsSeenWhoseFirstThreadHasEnded(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.CGO)
	bin := filepath.Join(t.TempDir(), "leader")
	if out, err := exec.Command("cc", "-pthread", "-o", bin, "../../eyes/lastbreath/testdata/leader.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o := startOther(t, "", bin)
	await(t, func() bool { return stateOf(o.pid) == procfs.Zombie })
	a := attachTo(t, o.pid, Options{}, nil)
	k := &kept{onPoint: func(p *sample.Point) {
		if len(p.Processes) == 1 && p.Processes[0].Resident.Total > 0 {
			o.in.Close()
		}
	}}
	a.watch(t, t.Context(), k)
	p := k.named("leader")
	if len(p) != 1 || p[0].Key.PID != o.pid {
		t.Fatalf("programs %+v", p)
	}
	if d := k.death(p[0].Key); d == nil || d.ExitCode != sample.Some(4) || d.Residency == nil {
		t.Errorf("the moment of its end: %+v", d)
	}
}

func TestAProgramIsFollowedThroughExecAndItsChildrenAreFound(t *testing.T) {
	t.Parallel()
	o := startOther(t, "", "sh", "-c", "read x; exec "+testprog(t, "processes")+" -for 1m -sizes 2MiB,2MiB")
	a := attachTo(t, o.pid, Options{HeapProfile: true, EnableRunning: true}, nil)
	o.in.Close()
	k := &kept{}
	k.onPoint = func(p *sample.Point) { // they live until all are found and read
		found := k.named("processes")
		read := 0
		for _, one := range p.Processes {
			if one.Go != nil {
				read++
			}
		}
		if read < 3 || len(found) != 3 {
			return
		}
		for _, child := range found {
			if child.Key.PID != o.pid {
				_ = syscall.Kill(child.Key.PID, syscall.SIGTERM)
			}
		}
	}
	a.watch(t, t.Context(), k)
	got := k.named("processes")
	if len(got) != 3 {
		t.Fatalf("programs %+v", got)
	}
	for _, p := range got {
		if p.HeapProfile != sample.HeapProfileEnabled {
			t.Errorf("the heap profile of %d is %s", p.Key.PID, p.HeapProfile)
		}
		if d := k.death(p.Key); d == nil || d.Go == nil {
			t.Errorf("the moment of the end of %d: %+v", p.Key.PID, d)
		}
	}
}

// A cgroup's processes are looked at in one step and seized in the next.
func TestAProgramThatExecsBeforeItIsSeizedIsNotMistaken(t *testing.T) {
	t.Parallel()
	o := startOther(t, "", "sh", "-c", "read x; exec "+testprog(t, "ticker"))
	await(t, func() bool { name, _ := procfs.Comm("/proc", o.pid); return name == "sh" })
	source, err := New(Options{Narrow: true})
	if err != nil {
		t.Fatal(err)
	}
	a := &attached{Source: source}
	defer a.Close()
	a.main, a.scope = o.pid, tree
	a.mu.Lock()
	p := a.add(o.pid, false)
	a.mu.Unlock()
	o.in.Close()
	await(t, func() bool { r := sample.Resident{}; return p.watcher.Read(&r) == nil && r.Threads > 2 })
	if err := a.seize(p); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool {
		threads, _ := procfs.Threads("/proc", o.pid)
		tracer, _ := procfs.TracerOf("/proc", threads[1])
		return tracer != 0 && len(tracers(t, o.pid)) == 1
	})
	k := &kept{onPoint: func(p *sample.Point) {
		if hasFigures(p) {
			o.cmd.Process.Kill()
		}
	}}
	a.watch(t, t.Context(), k)
	if p := k.named("ticker"); len(p) != 1 || k.death(p[0].Key) == nil || k.death(p[0].Key).Go == nil {
		t.Errorf("programs %+v", k.programs)
	}
}

// A scan can see a child before the tracer has told of it. That the child execs then is
// told while it stands still, and its heap profile can be switched on: the loop must not
// take it for a program that it came too late for.
func TestAChildThatAScanSawFirstIsLeftToTheTracer(t *testing.T) {
	t.Parallel()
	o := startOther(t, "", "sh", "-c", "read x; exec "+testprog(t, "ticker"))
	await(t, func() bool { name, _ := procfs.Comm("/proc", o.pid); return name == "sh" })
	source, err := New(Options{HeapProfile: true})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	source.mu.Lock()
	p := source.add(o.pid, false)
	source.mu.Unlock()
	source.onFork(o.cmd.Process.Pid, o.pid)
	o.in.Close()
	await(t, func() bool { name, _ := procfs.Comm("/proc", o.pid); return name == "ticker" })
	if becameGo := source.seized(p, nil); becameGo || source.live[o.pid] != p {
		t.Errorf("became a Go program: %t; taken in anew as %q", becameGo, source.live[o.pid].program.Name)
	}
	source.onExec(o.pid)
	if now := source.live[o.pid]; now == p || now.program.Name != "ticker" {
		t.Errorf("after its exec it is %q", now.program.Name)
	}
}

// Nothing that is read of it holds still: it unmaps, becomes another program and
// ends in the midst of a moment.
func TestAProgramThatChangesUnderTheReaderIsReadAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	const lives = 20
	restless := hwtest.Build(t, "testdata/restless", hwtest.BuildOptions{})
	o := startOther(t, "", "sh", "-c", "read x; exec "+restless+" "+fmt.Sprint(lives))
	a := attachTo(t, o.pid, Options{HeapProfile: true, EnableRunning: true}, nil)
	k := &kept{onPoint: func(*sample.Point) {
		a.Capture(sample.MomentCalm)
		a.Profile()
	}}
	o.in.Close()
	if err := (&capture.Loop{Source: a, Sink: k, CalmHz: 1000}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	programs := k.named("restless")
	if len(programs) != lives+1 || a.ExitCode() != 9 {
		t.Errorf("%d programs, want %d; exit code %d", len(programs), lives+1, a.ExitCode())
	}
	for _, p := range programs {
		if p.HeapProfile != sample.HeapProfileEnabled {
			t.Errorf("its heap profile is %s; gaps %s", p.HeapProfile, k.gapText())
		}
	}
	if d := k.death(programs[0].Key); d == nil || d.ExitCode != sample.Some(9) {
		t.Errorf("the moment of its end: %+v", d)
	}
}

func TestWhatSharesTheCgroupIsSeenBesideIt(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
	h, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	g := group(t, 256*sample.MiB)
	o, beside := startOther(t, g.Dir, testprog(t, "ticker")), startOther(t, g.Dir, testprog(t, "steady"))
	a := attachTo(t, o.pid, Options{}, h)
	charged := false
	k := &kept{onPoint: func(p *sample.Point) {
		if hasFigures(p) && len(p.Processes) == 2 {
			charged = p.Cgroup != nil && p.Cgroup.Limit.V == 256*sample.MiB
			o.cmd.Process.Kill()
		}
	}}
	a.watch(t, t.Context(), k)
	if !charged {
		t.Error("the cgroup's charge was not seen")
	}
	if p := k.named("steady"); len(p) != 1 || p[0].Go != nil || !strings.Contains(p[0].WhyNot, "shares the cgroup") {
		t.Errorf("beside it: %+v", p)
	}
	if n := len(tracers(t, beside.pid)); n != 0 {
		t.Errorf("%d threads of what is beside it are traced", n)
	}
}

func TestACgroupIsWatchedUntilItIsEmpty(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup)
	g := group(t, 256*sample.MiB)
	one, two := startOther(t, g.Dir, testprog(t, "ticker")), startOther(t, g.Dir, testprog(t, "steady"))
	source, err := New(Options{Group: g, Narrow: true})
	if err != nil {
		t.Fatal(err)
	}
	a := &attached{Source: source}
	defer a.Close()
	if n, err := a.AttachGroup(); n != 2 || err != nil {
		t.Fatalf("%d programs, %v", n, err)
	}
	k := &kept{onPoint: func(p *sample.Point) {
		if len(p.Processes) == 2 && p.Processes[0].Go != nil && p.Processes[1].Go != nil {
			one.cmd.Process.Kill()
			two.cmd.Process.Kill()
		}
	}}
	a.watch(t, t.Context(), k)
	for _, name := range []string{"ticker", "steady"} {
		if p := k.named(name); len(p) != 1 || k.death(p[0].Key) == nil {
			t.Errorf("%s: %+v; gaps %s", name, p, k.gapText())
		}
	}
}

func TestAProcessThatIsGoneIsToldAsThat(t *testing.T) {
	t.Parallel()
	source, err := New(Options{Narrow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	if _, err := source.Attach(1<<22 + 1); !errors.Is(err, procfs.ErrGone) {
		t.Errorf("Attach says %v", err)
	}
}

func TestProgramsAreFoundByName(t *testing.T) {
	t.Parallel()
	o := startOther(t, "", testprog(t, "ticker"), "-for", "1m")
	shell := startOther(t, "", "sh", "-c", testprog(t, "neverready")+" & read x")
	_ = shell
	all := (&Finder{AllGo: true})
	for name, c := range map[string]struct {
		finder *Finder
		want   bool
	}{
		"its name":       {&Finder{Names: []string{"ticker"}}, true},
		"one of several": {&Finder{Names: []string{"nobody", "ticker"}}, true},
		"part of it":     {&Finder{Names: []string{"tick"}}, false},
		"every Go one":   {all, true},
	} {
		pids, err := c.finder.Find()
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(pids, o.pid) != c.want {
			t.Errorf("%s: found %v, the program is %d", name, pids, o.pid)
		}
		if slices.Contains(pids, os.Getpid()) || slices.Contains(pids, shell.pid) {
			t.Errorf("%s: found this very program or a shell in %v", name, pids)
		}
	}
	if name := "a-service-with-a-long-name"; !isNamed(name, name[:15], "") || !isNamed(name, name[:15], name) || isNamed(name, name[:15], name+"-2") {
		t.Error("a name longer than the kernel keeps")
	}
	unix.Kill(o.pid, unix.SIGKILL)
}

// BenchmarkAttach is from a pid to the first figures of the Go runtime.
func BenchmarkAttach(b *testing.B) {
	ticker := []string{"../../aside/testprog/ticker", "-for", "10m"}
	for name, c := range map[string]struct {
		build   hwtest.BuildOptions
		program []string
		threads int
	}{
		"plain":          {hwtest.BuildOptions{}, ticker, 3},
		"stripped":       {hwtest.BuildOptions{Strip: true}, ticker, 3},
		"10,000 threads": {hwtest.BuildOptions{}, []string{"../../eyes/lastbreath/testdata/target", "many", "10000"}, 10000},
	} {
		b.Run(name, func(b *testing.B) {
			o := startOther(b, "", append([]string{hwtest.Build(b, c.program[0], c.build)}, c.program[1:]...)...)
			await(b, func() bool { threads, _ := procfs.Threads("/proc", o.pid); return len(threads) >= c.threads })
			for b.Loop() {
				source, err := New(Options{Narrow: true})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := source.Attach(o.pid); err != nil || source.live[o.pid].runtime == nil {
					b.Fatal("no figures: ", err)
				}
				source.Close()
			}
		})
	}
}

// BenchmarkTick10000Threads is a sample of a program of ten thousand threads, and
// now and then a look for its children.
func BenchmarkTick10000Threads(b *testing.B) {
	o := startOther(b, "", hwtest.Build(b, "../../eyes/lastbreath/testdata/target", hwtest.BuildOptions{}), "many", "10000")
	await(b, func() bool { threads, _ := procfs.Threads("/proc", o.pid); return len(threads) >= 10000 })
	a := attachTo(b, o.pid, Options{}, nil)
	for _, scanned := range []bool{false, true} {
		b.Run(fmt.Sprintf("scan=%v", scanned), func(b *testing.B) {
			for b.Loop() {
				p := sample.Point{At: time.Now()}
				if a.nextScan = p.At.Add(time.Hour); scanned {
					a.nextScan = p.At
				}
				if err := a.Tick(&p, capture.Full); err != nil || !hasFigures(&p) {
					b.Fatalf("%+v, %v", p.Processes, err)
				}
			}
		})
	}
}
