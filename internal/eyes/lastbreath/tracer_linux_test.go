package lastbreath

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

var target string // path of testdata/target, built

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "be-a-tracer" {
		beATracer(os.Args[2:])
		return
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lastbreath")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	target = filepath.Join(dir, "target")
	build := exec.Command("go", "build", "-o", target, "./testdata/target")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// log is what a Tracer told.
type log struct {
	mu    sync.Mutex
	lines []string
	news  chan struct{}  // closed and replaced at each line
	known map[int]uint64 // where the known bytes of a process are
}

// expect says where a process's known bytes are: its death is then told as
// "dying PID STATUS, intact" if they can be read.
func (l *log) expect(addr uint64, pid int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[pid] = addr
	return pid
}

// intact is what is told of a dying process's memory.
func (l *log) intact(t testing.TB, d Death) string {
	l.mu.Lock()
	addr, ok := l.known[d.PID]
	l.mu.Unlock()
	if !ok || !isIntact(t, d.TID, addr) {
		return ""
	}
	return ", intact"
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
	close(l.news)
	l.news = make(chan struct{})
}

// wait waits for a line.
func (l *log) wait(t testing.TB, line string) {
	t.Helper()
	patience := time.After(30 * time.Second)
	for {
		l.mu.Lock()
		found, news, lines := slices.Contains(l.lines, line), l.news, slices.Clone(l.lines)
		l.mu.Unlock()
		if found {
			return
		}
		select {
		case <-news:
		case <-patience:
			t.Fatalf("%q was not told; but:\n%s", line, strings.Join(lines, "\n"))
		}
	}
}

// all is what was told so far.
func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// newTracer makes a Tracer whose news are logged; dying is called first at each death.
func newTracer(t testing.TB, o Options, dying func(Death)) (*Tracer, *log) {
	t.Helper()
	l := &log{news: make(chan struct{}), known: map[int]uint64{}}
	hwtest.Slow(t, "traces a program")
	tracer, err := NewTracer(Handler{
		Exec: func(pid int) bool {
			exe, _ := procfs.Exe(procRoot, pid)
			l.add("exec %d %s", pid, filepath.Base(exe))
			return exe == target
		},
		Fork: func(parent, child int) { l.add("fork %d %d", parent, child) },
		Dying: func(d Death) {
			if dying != nil {
				dying(d)
			}
			l.add("dying %d %v%s", d.PID, d.Status, l.intact(t, d))
		},
		Gone: func(pid int, s sample.Opt[Status]) {
			if s.OK {
				l.add("gone %d %v", pid, s.V)
			} else {
				l.add("gone %d", pid)
			}
		},
		Lost:     func(pid int, why error) { l.add("lost %d %v", pid, why) },
		Narrowed: func(pid int) { l.add("narrowed %d", pid) },
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tracer.Close() })
	return tracer, l
}

// program is a started program.
type program struct {
	pid int
	in  *os.File
	out *bufio.Reader
}

// start starts a program by the Tracer, with pipes.
func start(t testing.TB, tracer *Tracer, args ...string) *program {
	t.Helper()
	p, err := tryStart(t, tracer, Command{Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryStart(t testing.TB, tracer *Tracer, c Command) (*program, error) {
	t.Helper()
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.Path, err = exec.LookPath(c.Args[0]); err != nil {
		t.Fatal(err)
	}
	c.Env, c.Files = os.Environ(), []*os.File{stdin, stdout}
	pid, err := tracer.Start(c)
	stdin.Close()
	stdout.Close()
	t.Cleanup(func() { in.Close(); out.Close() })
	return &program{pid: pid, in: in, out: bufio.NewReader(out)}, err
}

// ready reads where a target's known bytes are, and its pid.
func (p *program) ready(t testing.TB) (addr uint64, pid int) {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the program said nothing: %v", err)
	}
	if _, err := fmt.Sscanf(line, "%v %d", &addr, &pid); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return addr, pid
}

// answers checks that the program still does what it is told.
func (p *program) answers(t testing.TB) {
	t.Helper()
	fmt.Fprintln(p.in)
	if line, err := p.out.ReadString('\n'); line != "lives\n" {
		t.Errorf("the program does not answer: %q, %v", line, err)
	}
}

// isIntact compares the known bytes of a process with what can be read of it.
func isIntact(t testing.TB, tid int, addr uint64) bool {
	t.Helper()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", tid))
	if err != nil {
		t.Error(err)
		return false
	}
	defer mem.Close()
	got := make([]byte, 1<<20)
	if _, err := mem.ReadAt(got, int64(addr)); err != nil {
		t.Errorf("read the memory of a process held at its exit: %v", err)
		return false
	}
	for i := range got {
		if got[i] != byte(i*7+i>>8) {
			t.Errorf("byte %d of the memory is %d", i, got[i])
			return false
		}
	}
	return true
}

func TestAKilledProcessIsHeldWithItsMemory(t *testing.T) {
	tracer, log := newTracer(t, Options{}, func(d Death) {
		if d.Deadline.IsZero() || time.Until(d.Deadline) > HoldOOM {
			t.Errorf("deadline %v", d.Deadline)
		}
		if r, err := new(procfs.Mapper).Residency(procRoot, d.TID, nil, false); err != nil || r.Anon < sample.MiB {
			t.Errorf("residency by thread: %+v, %v", r, err)
		}
	})
	p := start(t, tracer, target, "wait")
	log.expect(p.ready(t))
	unix.Kill(p.pid, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
	want := []string{
		fmt.Sprintf("exec %d target", p.pid),
		fmt.Sprintf("dying %d signal 9, intact", p.pid), fmt.Sprintf("gone %d signal 9", p.pid),
	}
	if got := log.all(); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestTheSecondSIGKILLDoesNotEndTheHold(t *testing.T) {
	tracer, log := newTracer(t, Options{}, func(d Death) {
		for range 3 {
			unix.Kill(d.PID, unix.SIGKILL)
			unix.Tgkill(d.PID, d.TID, unix.SIGKILL)
		}
	})
	p := start(t, tracer, target, "wait")
	log.expect(p.ready(t))
	unix.Kill(p.pid, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("dying %d signal 9, intact", p.pid))
	log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
}

func TestEveryEndIsToldAsItWas(t *testing.T) {
	for name, f := range everyFollowing {
		t.Run(name, func(t *testing.T) { testEveryEnd(t, Options{FollowForks: f}) })
	}
}

func testEveryEnd(t *testing.T, o Options) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"Go returns":              {[]string{target, "exit", "0"}, "exit 0"},
		"Go exits":                {[]string{target, "exit", "3"}, "exit 3"},
		"Go panics":               {[]string{target, "panic"}, "exit 2"},
		"Go follows nil":          {[]string{target, "nil"}, "exit 2"},
		"Go gets SIGTERM":         {[]string{target, "term"}, "signal 15"},
		"Go's threads end alone":  {[]string{target, "threads", "50"}, "exit 0"},
		"a shell exits":           {[]string{"sh", "-c", "exit 7"}, "exit 7"},
		"a shell kills itself":    {[]string{"sh", "-c", "kill -9 $$"}, "signal 9"},
		"a shell's child fails":   {[]string{"sh", "-c", "sh -c 'exit 9'; exit $?"}, "exit 9"},
		"a shell becomes a Go":    {[]string{"sh", "-c", "exec " + target + " exit 5"}, "exit 5"},
		"Go becomes another Go":   {[]string{target, "exec", target, "exit", "6"}, "exit 6"},
		"Go becomes a shell":      {[]string{target, "exec", "/bin/sh", "-c", "exit 8"}, "exit 8"},
		"Go becomes Go thrice":    {[]string{target, "exec", target, "exec", target, "exec", target, "exit", "0"}, "exit 0"},
		"a shell dies of SIGSEGV": {[]string{"sh", "-c", "ulimit -c 0; kill -SEGV $$"}, "signal 11"},
	} {
		if strings.HasPrefix(name, "Go becomes") && o.FollowForks == Never {
			continue // the new program may end before it is caught
		}
		t.Run(name, func(t *testing.T) {
			tracer, log := newTracer(t, o, nil)
			p := start(t, tracer, c.args...)
			go io.Copy(io.Discard, p.out)
			log.wait(t, fmt.Sprintf("gone %d %s", p.pid, c.want))
			lines := log.all()
			var deaths []string
			for _, line := range lines {
				if strings.HasPrefix(line, fmt.Sprintf("dying %d ", p.pid)) {
					deaths = append(deaths, line)
				}
			}
			if want := []string{fmt.Sprintf("dying %d %s", p.pid, c.want)}; !slices.Equal(deaths, want) {
				t.Errorf("deaths %q, want %q; told:\n%s", deaths, want, strings.Join(lines, "\n"))
			}
		})
	}
}

func TestExecOfAShellIsToldBeforeItRuns(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	p := start(t, tracer, "sh", "-c", "exec "+target+" wait")
	log.expect(p.ready(t))
	log.wait(t, fmt.Sprintf("exec %d target", p.pid))
	unix.Kill(p.pid, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("dying %d signal 9, intact", p.pid))
	log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
}

func TestChildrenOfAShellAreFollowed(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	p := start(t, tracer, "sh", "-c", fmt.Sprintf("%[1]s stay & %[1]s stay; wait", target))
	var children []int
	for range 2 {
		child := log.expect(p.ready(t))
		children = append(children, child)
		log.wait(t, fmt.Sprintf("fork %d %d", p.pid, child))
		log.wait(t, fmt.Sprintf("exec %d target", child))
	}
	for _, child := range children {
		unix.Kill(child, unix.SIGKILL)
		log.wait(t, fmt.Sprintf("dying %d signal 9, intact", child))
		log.wait(t, fmt.Sprintf("gone %d signal 9", child))
	}
	log.wait(t, fmt.Sprintf("gone %d exit 0", p.pid))
}

func TestAGoProgramThatExecsIsHeldAsTheNewOne(t *testing.T) {
	for name, f := range everyFollowing {
		t.Run(name, func(t *testing.T) { testExec(t, Options{FollowForks: f}) })
	}
}

func testExec(t *testing.T, o Options) {
	tracer, log := newTracer(t, o, nil)
	p := start(t, tracer, target, "exec", target, "wait")
	p.ready(t)
	log.expect(p.ready(t))
	unix.Kill(p.pid, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
	want := []string{
		fmt.Sprintf("exec %d target", p.pid), fmt.Sprintf("exec %d target", p.pid),
		fmt.Sprintf("dying %d signal 9, intact", p.pid), fmt.Sprintf("gone %d signal 9", p.pid),
	}
	if got := log.all(); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestAGrandchildThatExecsIsHeldAsTheNewOne(t *testing.T) {
	for name, f := range everyFollowing {
		t.Run(name, func(t *testing.T) { testGrandchildExec(t, Options{FollowForks: f}) })
	}
}

func testGrandchildExec(t *testing.T, o Options) {
	tracer, log := newTracer(t, o, nil)
	p := start(t, tracer, "sh", "-c", target+" exec "+target+" stay; exit 3")
	p.ready(t)
	child := log.expect(p.ready(t))
	unix.Kill(child, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("dying %d signal 9, intact", child))
	log.wait(t, fmt.Sprintf("gone %d signal 9", child))
	log.wait(t, fmt.Sprintf("gone %d exit 3", p.pid))
}

func TestAProcessThatRunsIsSeized(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	p := start(t, tracer, target, "spawn", target, "wait")
	p.ready(t)
	child := log.expect(p.ready(t))
	for range 2 { // the second time it is followed already
		if err := tracer.Seize(keyOf(t, child), true); err != nil {
			t.Fatal(err)
		}
	}
	unix.Kill(child, unix.SIGKILL)
	log.wait(t, fmt.Sprintf("dying %d signal 9, intact", child))
	log.wait(t, fmt.Sprintf("gone %d signal 9", child))
	log.wait(t, fmt.Sprintf("gone %d exit 0", p.pid))
}

func TestFollowForksFollowsGosChildrenFromTheirStart(t *testing.T) {
	tracer, log := newTracer(t, Options{FollowForks: Always}, nil)
	p := start(t, tracer, target, "spawn", target, "exit", "4")
	go io.Copy(io.Discard, p.out)
	log.wait(t, fmt.Sprintf("gone %d exit 0", p.pid))
	var child int
	for _, line := range log.all() {
		fmt.Sscanf(line, fmt.Sprintf("fork %d %%d", p.pid), &child)
	}
	for _, line := range []string{"exec %d target", "dying %d exit 4", "gone %d exit 4"} {
		log.wait(t, fmt.Sprintf(line, child))
	}
}

func TestSeizeSaysWhyNot(t *testing.T) {
	first, _ := newTracer(t, Options{}, nil)
	p := start(t, first, target, "wait")
	p.ready(t)
	second, _ := newTracer(t, Options{}, nil)
	if err := second.Seize(keyOf(t, p.pid), true); !errors.Is(err, unix.EPERM) {
		t.Errorf("of a process that another tracer follows: %v", err)
	}
	if err := second.Seize(sample.ProcessKey{PID: 1<<22 + 1}, true); !errors.Is(err, procfs.ErrGone) {
		t.Errorf("of no process: %v", err)
	}
	p.answers(t)
}

func TestStartFailsWithTheReason(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	if _, err := tracer.Start(Command{Path: "/nowhere", Args: []string{"x"}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	if _, err := tracer.Start(Command{Path: "/etc/passwd", Args: []string{"x"}}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("of no executable: %v", err)
	}
	why := errors.New("no cgroup")
	var pid int
	_, err := tryStart(t, tracer, Command{Args: []string{target, "wait"}, BeforeRun: func(p int) error { pid = p; return why }})
	if !errors.Is(err, why) {
		t.Errorf("BeforeRun failed, Start says %v", err)
	}
	if _, err := procfs.KeyOf(procRoot, pid); !errors.Is(err, procfs.ErrGone) {
		t.Errorf("a program that was not to run is there: %v", err)
	}
	if lines := log.all(); len(lines) > 0 {
		t.Errorf("told %q", lines)
	}
}

func TestAKillDuringStartIsTold(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	p, err := tryStart(t, tracer, Command{
		Args:      []string{target, "wait"},
		BeforeRun: func(pid int) error { return unix.Kill(pid, unix.SIGKILL) },
	})
	if err != nil {
		t.Fatal(err)
	}
	log.wait(t, fmt.Sprintf("dying %d signal 9", p.pid))
	log.wait(t, fmt.Sprintf("gone %d signal 9", p.pid))
}

func TestTheProgramStartsAsIfNobodyWatched(t *testing.T) {
	const script = "grep -E 'SigQ|SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt' /proc/$$/status | grep -v SigQ"
	plain, err := exec.Command("sh", "-c", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	tracer, _ := newTracer(t, Options{}, nil)
	for range 20 { // both orders of stop and seizure
		p := start(t, tracer, "sh", "-c", script)
		got, err := io.ReadAll(p.out)
		if err != nil || string(got) != string(plain) {
			t.Fatalf("signals of the program:\n%s%v\nwithout a tracer:\n%s", got, err, plain)
		}
	}
}

func TestJobControlWorks(t *testing.T) {
	tracer, log := newTracer(t, Options{}, nil)
	for _, args := range [][]string{{target, "wait"}, {"sh", "-c", "echo 0x0 $$; read x; echo lives; read x; exit 0"}} {
		p := start(t, tracer, args...)
		p.ready(t)
		unix.Kill(p.pid, unix.SIGSTOP)
		until(t, func() bool {
			st, err := procfs.StateOf(procRoot, p.pid)
			return err == nil && (st == 'T' || st == 't')
		})
		fmt.Fprintln(p.in)
		unix.Kill(p.pid, unix.SIGCONT)
		if line, err := p.out.ReadString('\n'); line != "lives\n" {
			t.Errorf("%q after SIGCONT: %q, %v", args, line, err)
		}
		p.in.Close()
		log.wait(t, fmt.Sprintf("gone %d exit 0", p.pid))
	}
}

// until waits for a state of the kernel's that nothing announces.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 30_000 {
		if ok() {
			return
		}
		<-tick.C
	}
	t.Fatal("it did not come to be")
}
