package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// paneTime bounds the wait for a text: that a busy machine shows in the end.
const paneTime = 2 * time.Minute

// pane is a window of a terminal multiplexer in which somebody works in a shell.
type pane struct {
	socket string
	output *os.File // what programs write to it
	raw    strings.Builder
}

// openPane starts a shell in a window of that size.
func openPane(t *testing.T, width, height int, env ...string) *pane {
	t.Helper()
	hwtest.Need(t, hwtest.Program("tmux"))
	dir := t.TempDir()
	p := &pane{socket: filepath.Join(dir, "s")}
	fifo := filepath.Join(dir, "output")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.output, err = os.OpenFile(fifo, os.O_RDWR|syscall.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.output.Close() })
	shell := append(append([]string{"env", "-u", "NO_COLOR", "PS1=ready> ", "ENV=", "LC_ALL=C.UTF-8", "XDG_STATE_HOME=" + dir}, env...), "sh", "-i")
	p.tmux(t, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), strings.Join(quoted(shell), " "))
	t.Cleanup(func() { exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	p.tmux(t, "pipe-pane", "cat > "+fifo)
	p.await(t, `ready>$`)
	return p
}

func quoted(args []string) (out []string) {
	for _, a := range args {
		out = append(out, "'"+a+"'")
	}
	return out
}

func (p *pane) tmux(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// press presses keys by their names.
func (p *pane) press(t *testing.T, keys ...string) {
	t.Helper()
	p.tmux(t, append([]string{"send-keys"}, keys...)...)
}

// enter types a command line.
func (p *pane) enter(t *testing.T, command string) {
	t.Helper()
	p.tmux(t, "send-keys", "-l", command)
	p.press(t, "Enter")
}

func (p *pane) screen(t *testing.T) string {
	t.Helper()
	return strings.TrimRight(p.tmux(t, "capture-pane", "-p"), "\n ")
}

// await looks at the screen after each thing that is written to it, until it matches.
func (p *pane) await(t *testing.T, pattern string) string {
	t.Helper()
	want := regexp.MustCompile(pattern)
	if err := p.output.SetReadDeadline(time.Now().Add(paneTime)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1<<16)
	for {
		screen := p.screen(t)
		if want.MatchString(screen) {
			return screen
		}
		n, err := p.output.Read(buffer)
		if err != nil {
			t.Fatalf("%q is not shown: %v\n%s", pattern, err, screen)
		}
		p.raw.Write(buffer[:n])
	}
}

// leaks counts the programs of this process's tests, which run side by side.
var leaks atomic.Int32

// ownLeak is a leaking program under a name that no other test has.
func ownLeak(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(testprog(t, "leak"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), fmt.Sprintf("lk%d%03d", os.Getpid(), leaks.Add(1)))
	if err := os.WriteFile(path, text, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// leakIn starts it in a cgroup, and returns once it runs.
func leakIn(t *testing.T, program string, group *cgroup.Cgroup, args ...string) *stranger {
	t.Helper()
	s := startStranger(t, inside(group, append([]string{program}, args...)...))
	s.lines.Scan()
	fmt.Fprintln(s.in)
	for exe := ""; exe != program; runtime.Gosched() {
		var err error
		if exe, err = os.Readlink("/proc/" + s.pid() + "/exe"); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// tracers are the processes that trace a thread of one.
func tracers(t *testing.T, pid string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/" + pid + "/task/*/status")
	if err != nil || len(files) == 0 {
		t.Fatalf("process %s has no threads: %v", pid, err)
	}
	for _, f := range files {
		text, _ := os.ReadFile(f) // a thread may have ended
		if m := regexp.MustCompile(`TracerPid:\t([1-9]\d*)`).FindSubmatch(text); m != nil {
			found = append(found, string(m[1]))
		}
	}
	return found
}

func TestTopShowsALeakExplainsItAndLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	program := ownLeak(t)
	slow := leakIn(t, program, hwtest.Limit(t, limit), "-rate", "1MiB", "-max", "200MiB", "-for", "20m")
	p := openPane(t, 80, 24)
	p.enter(t, "stty -g > $XDG_STATE_HOME/before; echo kept")
	p.await(t, `(?m)^kept\nready>$`)
	command := highwater(t) + " top " + filepath.Base(program) + " --record --enable-heap-profile"
	p.tmux(t, "send-keys", "-l", command)
	before := p.await(t, `heap-profile$`)
	p.press(t, "Enter")

	p.await(t, slow.pid()+` lk\d+ .*256 MiB .*\+\d\S* MiB/s +\d+ (min|s) `) // growth, and the time to the limit
	if len(tracers(t, slow.pid())) == 0 {
		t.Error("its last breath is not waited for")
	}
	p.press(t, "Enter")
	p.await(t, `(?s)pid `+slow.pid()+`.*MEMORY NOW: .*live heap.*ALLOCATED BY.*leak/main.go:\d+ .*remember`)
	p.press(t, "s")
	p.await(t, `a moment of lk\d+ is kept`)
	p.press(t, "e")
	p.await(t, `(?s)explain lk.*MEMORY (AT|NEAR) THE `)
	p.press(t, "q", "q")
	p.await(t, `PROGRAM .*FULL`)

	// Another starts, and is killed once it is seen: it is the larger one of two.
	group := hwtest.Limit(t, limit)
	victim := leakIn(t, program, group, "-rate", "20MiB", "-max", "150MiB", "-for", "20m")
	p.await(t, victim.pid()+` lk\d+ .* (1[5-9]|2\d)\d MiB 256 MiB`)
	hog := startStranger(t, inside(group, testprog(t, "leak"), "-rate", "0", "-max", "120MiB", "-for", "20m"))
	hog.lines.Scan()
	fmt.Fprintln(hog.in)
	p.await(t, victim.pid()+` lk\d+ .*KILLED  \d\d:\d\d:\d\d  [A-Z]`)

	p.press(t, "q")
	after := p.await(t, `(?s)2 recordings: highwater list\s+ready>$`)
	if !strings.HasPrefix(after, before) {
		t.Errorf("the terminal was not given back as it was; before:\n%s\nafter:\n%s", before, after)
	}
	p.enter(t, "stty -g > $XDG_STATE_HOME/after; echo compared")
	p.await(t, `(?m)^compared$`)
	p.sameModes(t)
	if found := tracers(t, slow.pid()); found != nil {
		t.Errorf("it is still traced, by %v", found)
	}
	p.verifyRecordings(t, 2)
}

// sameModes compares what stty wrote before and after.
func (p *pane) sameModes(t *testing.T) {
	t.Helper()
	dir := filepath.Dir(p.socket)
	before, err := os.ReadFile(filepath.Join(dir, "before"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "after"))
	if err != nil || len(before) == 0 || string(before) != string(after) {
		t.Errorf("the terminal's modes were %q and are %q, %v", before, after, err)
	}
	if on := strings.TrimSpace(p.tmux(t, "display-message", "-p", "#{alternate_on}#{cursor_flag}")); on != "01" {
		t.Errorf("alternate screen and cursor: %s, want 01", on)
	}
}

// verifyRecordings checks the recordings that were made; one holds the moment that was
// asked for.
func (p *pane) verifyRecordings(t *testing.T, want int) {
	t.Helper()
	made, err := filepath.Glob(filepath.Join(filepath.Dir(p.socket), "highwater", "*.hwm"))
	if err != nil || len(made) != want {
		t.Fatalf("recordings %v, %v; want %d", made, err, want)
	}
	asked := 0
	for _, path := range made {
		if err := recording.Verify(path); err != nil {
			t.Error(err)
		}
		r, err := recording.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		moments, err := r.Moments()
		if err != nil {
			t.Error(err)
		}
		for _, m := range moments {
			if m.Kind == sample.MomentAsked {
				asked++
			}
		}
		r.Close()
	}
	if asked != 1 {
		t.Errorf("%d moments were asked for, want 1", asked)
	}
}

// colour is a control sequence that sets one (ECMA-48, select graphic rendition).
var colour = regexp.MustCompile(`\x1b\[([0-9;:]*;)?(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;:m]`)

func TestTopIsReadableWithoutColourUnicodeOrRoom(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	target := leakIn(t, ownLeak(t), hwtest.Limit(t, limit), "-rate", "1MiB", "-max", "10MiB", "-for", "20m")
	top := highwater(t) + " top " + target.pid()
	row := target.pid() + ` lk\d+ .*256 MiB`
	for _, c := range []struct {
		name, env string
		colour    bool
		ascii     bool
	}{
		{"as it is", "X=1", true, false},
		{"NO_COLOR", "NO_COLOR=1", false, false},
		{"without Unicode", "LC_ALL=C", true, true},
		{"a terminal without colours", "TERM=vt100", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := openPane(t, 80, 24, c.env)
			p.raw.Reset()
			p.enter(t, top)
			p.await(t, row+`.*\d%`)
			p.press(t, "?")
			p.await(t, `share of GC`)
			p.press(t, "q", "q")
			p.await(t, `it keeps running\s+ready>$`)
			raw := p.raw.String()
			if got := colour.MatchString(raw); got != c.colour {
				t.Errorf("colours: %v, want %v:\n%q", got, c.colour, raw)
			}
			if got := !strings.ContainsFunc(raw, func(r rune) bool { return r > 127 }); got != c.ascii {
				t.Errorf("ASCII alone: %v, want %v:\n%q", got, c.ascii, raw)
			}
			if made, _ := filepath.Glob(filepath.Join(filepath.Dir(p.socket), "highwater", "*.hwm")); made != nil {
				t.Errorf("it left %v, and nobody asked for recordings", made)
			}
		})
	}
	t.Run("another size", func(t *testing.T) {
		p := openPane(t, 80, 24)
		p.enter(t, top)
		p.await(t, row)
		p.tmux(t, "resize-window", "-x", "30", "-y", "6")
		p.await(t, `(?m)^> +`+target.pid()+` lk\d+ +\d+ MiB$`)
		p.tmux(t, "resize-window", "-x", "140", "-y", "50")
		p.await(t, `LIMIT +% FULL▾ .*LIMIT IN`)
		p.press(t, "q")
		p.await(t, `it keeps running\s+ready>$`)
	})
	t.Run("a dumb terminal", func(t *testing.T) {
		p := openPane(t, 80, 24, "TERM=dumb")
		p.enter(t, top+"; echo code $?")
		if screen := p.await(t, `(?m)^code \d`); !strings.Contains(screen, "code 2") || !strings.Contains(screen, "highwater top --once") {
			t.Errorf("it does not say what to use instead:\n%s", screen)
		}
	})
}

// A tracer that is stopped would hold a program at its exit.
func TestTopLetsGoWhileItIsStoppedAndEndsBySignal(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	target := leakIn(t, ownLeak(t), hwtest.Limit(t, limit), "-rate", "1MiB", "-max", "10MiB", "-for", "20m")
	p := openPane(t, 80, 24)
	p.enter(t, "stty -g > $XDG_STATE_HOME/before")
	p.enter(t, highwater(t)+" top "+target.pid())
	row := target.pid() + ` lk\d+ .*256 MiB`
	p.await(t, row)
	if len(tracers(t, target.pid())) == 0 {
		t.Error("its last breath is not waited for")
	}
	p.press(t, "C-z")
	p.await(t, `(?s)Stopped.*ready>$`)
	if found := tracers(t, target.pid()); found != nil {
		t.Errorf("stopped, and it is still traced, by %v", found)
	}
	p.enter(t, "stty -g > $XDG_STATE_HOME/after; echo compared")
	p.await(t, `(?m)^compared$`)
	p.sameModes(t)
	p.enter(t, "fg")
	p.await(t, `(?s)^highwater top .*`+row)
	found := tracers(t, target.pid())
	if len(found) == 0 {
		t.Fatal("continued, and its last breath is not waited for")
	}
	if out, err := exec.Command("kill", "-TERM", found[0]).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	p.await(t, `it keeps running\s+ready>$`)
	p.enter(t, "stty -g > $XDG_STATE_HOME/after; echo ended")
	p.await(t, `(?m)^ended$`)
	p.sameModes(t)
}

// As when a connection breaks, but here the terminal is there to be looked at.
func TestTopGivesTheTerminalBackWhenItIsHungUp(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	target := leakIn(t, ownLeak(t), hwtest.Limit(t, limit), "-rate", "1MiB", "-max", "10MiB", "-for", "20m")
	p := openPane(t, 80, 24)
	p.enter(t, "stty -g > $XDG_STATE_HOME/before")
	p.enter(t, highwater(t)+" top "+target.pid())
	p.await(t, target.pid()+` lk\d+ .*256 MiB`)
	found := tracers(t, target.pid())
	if len(found) == 0 {
		t.Fatal("its last breath is not waited for")
	}
	if out, err := exec.Command("kill", "-HUP", found[0]).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	p.await(t, `it keeps running\s+ready>$`)
	p.enter(t, "stty -g > $XDG_STATE_HOME/after; echo ended")
	p.await(t, `(?m)^ended$`)
	p.sameModes(t)
	if found := tracers(t, target.pid()); found != nil {
		t.Errorf("it is still traced, by %v", found)
	}
}

func TestTopGivesTheTerminalBackBeforeAPanicIsTold(t *testing.T) {
	t.Parallel()
	program := hwtest.Build(t, filepath.Join("..", "show", "top", "testdata", "panics"), hwtest.BuildOptions{})
	p := openPane(t, 80, 24)
	p.enter(t, "stty -g > $XDG_STATE_HOME/before")
	p.enter(t, program)
	p.await(t, `7 shown .*1.0 MiB`)
	p.press(t, "e")
	p.await(t, `(?s)goroutine \d+.*ready>$`)
	p.enter(t, "stty -g > $XDG_STATE_HOME/after; echo compared")
	p.await(t, `(?m)^compared$`)
	p.sameModes(t)
}

func TestTopIsReadByScriptsAsJSON(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	target := leakIn(t, ownLeak(t), hwtest.Limit(t, limit), "-rate", "1MiB", "-max", "10MiB", "-for", "20m")
	out, err := exec.Command(highwater(t), "top", "--once", "--json", target.pid()).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema   string
		Programs []struct {
			PID     int
			Program string
			Go      string   `json:"go_version"`
			Used    uint64   `json:"used_bytes"`
			Limit   uint64   `json:"limit_bytes"`
			Growth  *float64 `json:"growth_bytes_per_second"`
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got.Schema != "highwater.top/1" || len(got.Programs) != 1 {
		t.Fatalf("%s", out)
	}
	one := got.Programs[0]
	if fmt.Sprint(one.PID) != target.pid() || !strings.HasPrefix(one.Program, "lk") || !strings.HasPrefix(one.Go, "1.") && !strings.HasPrefix(one.Go, "go1.") ||
		one.Used == 0 || one.Limit != 256<<20 || one.Growth != nil {
		t.Errorf("%+v of %s", one, target.pid())
	}
}

func TestTopOnAPipePrintsTheTableOnce(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	program := ownLeak(t)
	target := leakIn(t, program, hwtest.Limit(t, limit), "-rate", "1MiB", "-max", "10MiB", "-for", "20m")
	for _, args := range [][]string{{target.pid()}, {filepath.Base(program)}, {"--once", target.pid()}} {
		out, err := exec.Command(highwater(t), append([]string{"top"}, args...)...).CombinedOutput()
		if err != nil || !regexp.MustCompile(`^ +PID PROGRAM .*\n +`+target.pid()+` lk\d+ .*256 MiB .*~.*~\n?`).Match(out) {
			t.Errorf("top %q: %v\n%s", args, err, out)
		}
	}
	if found := tracers(t, target.pid()); found != nil {
		t.Errorf("it is still traced, by %v", found)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"999999999"}, "there is no process 999999999"},
		{[]string{"no-such-program-here"}, "no program to show"},
		{[]string{"1", "server"}, "top takes pids or names"},
		{[]string{"1", "--all"}, "takes programs, or one of"},
	} {
		cmd := exec.Command(highwater(t), append([]string{"top"}, c.args...)...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), c.says) {
			t.Errorf("top %q: code %d, wants to say %q:\n%s", c.args, cmd.ProcessState.ExitCode(), c.says, out)
		}
	}
}

// Of more programs than there is room for, the largest are shown, and how many there are.
func TestTopShowsTheLargestOfAllPrograms(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace)
	program := ownLeak(t)
	name := filepath.Base(program)
	large := leakIn(t, program, hwtest.Limit(t, limit), "-rate", "0", "-max", "60MiB", "-for", "20m")
	small := leakIn(t, program, hwtest.Limit(t, limit), "-rate", "0", "-max", "20MiB", "-for", "20m")
	for s, most := range map[*stranger]string{large: "remembered 48.0 MiB", small: "remembered 16.0 MiB"} {
		for s.lines.Scan() && !strings.Contains(s.lines.Text(), most) {
		}
	}
	p := openPane(t, 100, 24)
	p.enter(t, highwater(t)+" top "+name+" --at-most 1")
	p.await(t, `the largest 1 of 2 programs(?s).*`+large.pid()+` lk\d+ .*256 MiB`)
	larger := leakIn(t, program, hwtest.Limit(t, limit), "-rate", "0", "-max", "120MiB", "-for", "20m")
	screen := p.await(t, `the largest 1 of 3 programs(?s).*`+larger.pid()+` lk\d+ .*256 MiB`)
	if strings.Contains(screen, small.pid()+" lk") {
		t.Errorf("the smallest is shown:\n%s", screen)
	}
	p.press(t, "q")
	p.await(t, `ready>$`)

	var table, said strings.Builder
	once := exec.Command(highwater(t), "top", "--once", name, "--at-most", "2")
	once.Stdout, once.Stderr = &table, &said
	if err := once.Run(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.String(), larger.pid()) || !strings.Contains(table.String(), large.pid()) || strings.Contains(table.String(), small.pid()) {
		t.Errorf("want %s and %s without %s:\n%s", larger.pid(), large.pid(), small.pid(), table.String())
	}
	if want := "2 of 3 programs, the largest (--at-most 3 shows all)"; !strings.Contains(said.String(), want) {
		t.Errorf("it says %q, want %q", said.String(), want)
	}
	out, err := exec.Command(highwater(t), "top", "--json", name, "--at-most", "2").Output()
	var got struct {
		Found    int
		Programs []struct{ PID int }
	}
	if err := errors.Join(err, json.Unmarshal(out, &got)); err != nil || got.Found != 3 || len(got.Programs) != 2 {
		t.Errorf("%v: %s", err, out)
	}
}
