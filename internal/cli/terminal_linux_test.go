package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// Keys, as a terminal in its ordinary mode takes them.
const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

// terminal is a pseudo-terminal at which somebody works in a shell.
type terminal struct {
	keys *os.File // and screen
	text string   // all that came
	read int      // of text, by await
}

// openTerminal starts a shell with job control at a new terminal.
func openTerminal(t *testing.T) *terminal {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("SKIP-REASON: needs a pseudo-terminal: %v", err)
	}
	keys := os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { keys.Close() })
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err != nil {
		t.Fatal(err)
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	shell := exec.Command("/bin/sh", "-i")
	shell.Env = append(os.Environ(), "PS1=ready> ", "TERM=xterm", "ENV=")
	shell.Stdin, shell.Stdout, shell.Stderr = side, side, side
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shell.Wait() })
	t.Cleanup(func() { shell.Process.Kill() }) // and a hangup for the rest, as the terminal closes
	s := &terminal{keys: keys}
	s.await(t, "ready> ")
	return s
}

func (s *terminal) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.keys.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// await reads on until something matches and returns its submatches.
func (s *terminal) await(t *testing.T, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	if err := s.keys.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for {
		if at := re.FindStringSubmatchIndex(s.text[s.read:]); at != nil {
			found := re.FindStringSubmatch(s.text[s.read:])
			s.read += at[1]
			return found
		}
		n, err := s.keys.Read(buf)
		if err != nil {
			t.Fatalf("nothing matches %s (%v) in:\n%q", pattern, err, s.text)
		}
		s.text += string(buf[:n])
	}
}

func TestATerminalShowsALiveLineAndRemovesIt(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	s := openTerminal(t)
	s.press(t, fmt.Sprintf("%s run -o %s/run.hwm -- %s -live 8MiB -for 2s\n", highwater(t), t.TempDir(), testprog(t, "steady")))
	s.await(t, `ready, live 8.0 MiB`)
	s.await(t, `\r\x1b\[K +\d+ s  [0-9.]+ MiB  Go heap [^\r\n]*, GC target `)
	s.await(t, `ended with`)
	s.await(t, `steady (\x1b\[1m)?(\x1b\[32m)?exited normally`)
	s.await(t, `ready> `)
	lastLine := strings.LastIndex(s.text, "  Go heap ")
	if rest := s.text[lastLine:]; !regexp.MustCompile(`(?s)^[^\r\n]*\r\x1b\[K|^[^\r\n]*ended with`).MatchString(rest) {
		t.Errorf("the live line is not removed:\n%q", rest)
	}
	if !strings.Contains(s.text, "\x1b[1m") {
		t.Errorf("the answer has no colour on a terminal:\n%q", s.text)
	}
}

func TestControlCReachesTheProgramOnce(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	script := filepath.Join(t.TempDir(), "counts.sh")
	if err := os.WriteFile(script, []byte("n=0\ntrap 'n=$((n+1)); echo caught $n' INT\nwhile [ $n -lt 2 ]; do echo alive $n; sleep 0.05; done\nexit 7\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	s := openTerminal(t)
	s.press(t, fmt.Sprintf("%s run -q -o %s/run.hwm -- sh %s\n", highwater(t), t.TempDir(), script))
	s.await(t, `alive 0`)
	s.press(t, ctrlC)
	s.await(t, `caught 1\r\n`)
	for range 4 {
		s.await(t, `alive 1\r\n`)
	}
	s.press(t, ctrlC)
	s.await(t, `caught 2\r\n`)
	s.await(t, `ready> `)
	s.press(t, "echo code $?\n")
	if code := s.await(t, `code (\d+)`)[1]; code != "7" {
		t.Errorf("code %s, want 7", code)
	}
}

func TestARunCanBeStoppedAndContinued(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Ptrace)
	s := openTerminal(t)
	s.press(t, fmt.Sprintf("%s run -o %s/run.hwm -- %s\n", highwater(t), t.TempDir(), testprog(t, "ticker")))
	pid := s.await(t, `pid (\d+);`)[1]
	s.await(t, `tick 3 `)
	s.press(t, ctrlZ)
	s.await(t, `(Stopped|Suspended)`)
	s.await(t, `ready> `)
	for !strings.Contains("Tt", stateOf(t, pid)) {
		runtime.Gosched() // each of its threads stops for itself
	}
	s.press(t, "fg\n")
	s.await(t, `tick \d+ `)
	s.await(t, `tick \d+ `)
	s.press(t, ctrlC)
	s.await(t, `Ctrl-C stopped the program`)
	s.await(t, `ready> `)
	s.press(t, "echo code $?\n")
	if code := s.await(t, `code (\d+)`)[1]; code != "130" {
		t.Errorf("code %s, want 130", code)
	}
}

// stateOf is the state of a process's first thread, one letter (proc(5)).
func stateOf(t *testing.T, pid string) string {
	t.Helper()
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	return string(b[strings.LastIndexByte(string(b), ')')+2])
}
