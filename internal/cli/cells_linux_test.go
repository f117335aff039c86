package cli_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/aside/hwtest/cells"
	"github.com/highwater-go/highwater/internal/cli"
)

// What drives the test by hand: so many recordings, from that seed on (make fuzz).
const (
	cellsManyEnv = "HIGHWATER_CELLS"
	cellsSeedEnv = "HIGHWATER_CELLS_SEED"
	cellsFileEnv = "HIGHWATER_CELLS_FILE" // makes this test binary a reader of it
)

// readingCommands are every form of every command that reads a recording: R, in the
// directory D.
var readingCommands = []string{
	"explain R", "explain R --json", "explain R --at peak --evidence all", "explain R --at last", "explain R --latency", "explain R --list main",
	"explain R --expect heap=1MiB",
	"diff R@0s R@last", "diff R --from first --to last --json", "tune R", "tune R --json --gc-at ready --limit 64MiB --gogc 20,off --gomemlimit 50MiB",
	"open R --no-browser --html D/page.html", "open R --redact --html D/page.html", "list", "list --json", "note",
	"export R --pprof -o D/out", "export R --pprof --view now --at 1s -o D/out", "export R --goroutines -o D/out", "export R --holders -o D/out",
	"export R --csv", "export R --json", "export R --json --at last", "export R --heapsnapshot -o D/out",
	"heap R", "heap R --json --at last", "heap R --since first", "heap R --type main", "verify R",
}

// commandsPerFile of them read each changed recording.
const commandsPerFile = 6

// TestAnyCellOfARecordingMayBeChanged has every command read recordings in which cells
// were changed. It must end with one of its codes, within half of what it may take.
func TestAnyCellOfARecordingMayBeChanged(t *testing.T) {
	if os.Getenv(cellsFileEnv) != "" {
		readChanged(t)
		return
	}
	hwtest.Need(t, hwtest.Ptrace)
	many, seed := 12, 1 // make fuzz changes thousands
	if n, err := strconv.Atoi(os.Getenv(cellsManyEnv)); err == nil {
		many = n
	}
	if n, err := strconv.Atoi(os.Getenv(cellsSeedEnv)); err == nil {
		seed = n
	}
	for _, path := range genuine(t) {
		readAll(t, path, seed, many)
	}
}

// genuine makes recordings in which there is everything.
func genuine(t *testing.T) []string {
	dir := t.TempDir()
	env := programs(t)
	run := func(script string) {
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir, cmd.Env = dir, os.Environ()
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, text)
		}
	}
	port := 20000 + rand.IntN(12000)
	run(fmt.Sprintf(`highwater run -o web.hwm --heap every=1s --metrics 127.0.0.1:%d --probe http://127.0.0.1:%d/ --probe-rate 50 --for 4s -- counting -addr 127.0.0.1:%d -keep 100KiB -garbage 2MiB >/dev/null
		GODEBUG=gctrace=1 profiled -rounds 30 2>log >/dev/null; highwater import log -o log.hwm >/dev/null; test -s web.hwm && test -s log.hwm`, port, port, port))
	return []string{filepath.Join(dir, "web.hwm"), filepath.Join(dir, "log.hwm")}
}

// readAll has another process read them, which may die, and names the one it died of.
func readAll(t *testing.T, path string, seed, many int) {
	answered := 0
	for next, end := seed, seed+many; next < end; next++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAnyCellOfARecordingMayBeChanged$", "-test.timeout=0")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", cellsFileEnv, path), fmt.Sprintf("%s=%d", cellsSeedEnv, next),
			fmt.Sprintf("%s=%d", cellsManyEnv, end-next))
		var errors bytes.Buffer
		cmd.Stderr = &errors
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		doing := ""
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if lines.Text() == "code 0" {
				answered++
			}
			if n, what, ok := strings.Cut(strings.TrimPrefix(lines.Text(), "seed "), ": "); ok && strings.HasPrefix(lines.Text(), "seed ") {
				next, _ = strconv.Atoi(n)
				doing = what
			}
		}
		if cmd.Wait() == nil {
			break
		}
		text := errors.String()
		t.Errorf("%s, seed %d: %s\n%s", filepath.Base(path), next, doing, text[:min(len(text), 4000)])
	}
	t.Logf("%s: %d changed copies, %d of %d readings answered", filepath.Base(path), many, answered, many*commandsPerFile)
	if answered < many*commandsPerFile/5 { // many cells are of no account to a command
		t.Errorf("%s: only %d of %d readings were answered: too little was tried", filepath.Base(path), answered, many*commandsPerFile)
	}
}

// readChanged is the other process: it says what it does before it does it.
func readChanged(t *testing.T) {
	whole, err := os.ReadFile(os.Getenv(cellsFileEnv))
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := strconv.Atoi(os.Getenv(cellsSeedEnv))
	many, _ := strconv.Atoi(os.Getenv(cellsManyEnv))
	dir := t.TempDir()
	state := filepath.Join(dir, "highwater")
	t.Setenv("XDG_STATE_HOME", dir)
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, "changed-1.hwm")
	for n := seed; n < seed+many; n++ {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		did, err := cells.Change(path, rng)
		if err != nil {
			t.Fatal(n, err)
		}
		for range commandsPerFile {
			command := readingCommands[rng.IntN(len(readingCommands))]
			what := strings.Join(did, "; ") // some values are megabytes, and its reader takes lines
			fmt.Printf("seed %d: %s after %.300q\n", n, command, what)
			readOne(t, strings.Fields(command), path, dir)
		}
	}
}

// anonymous is what this process has of memory, in MiB: the change of a cell may have
// taken some that SQLite keeps.
func anonymous() (kib int) {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "\nRssAnon:")
	fmt.Sscan(rest, &kib)
	return kib >> 10
}

func readOne(t *testing.T, args []string, path, dir string) {
	t.Helper()
	for i := range args {
		args[i] = strings.Replace(strings.Replace(args[i], "R", path, 1), "D/", dir+"/", 1)
	}
	args = append(args, fmt.Sprintf("--max-memory=%dMiB", 512+anonymous()), "--max-time=15s")
	var out, errors bytes.Buffer
	code := cli.Main(args, strings.NewReader(""), &out, &errors)
	fmt.Println("code", code)
	if code < 0 || code > 5 || strings.Contains(errors.String(), "than it may") {
		t.Fatalf("code %d\n%s", code, errors.String())
	}
	if code != 0 && code != 3 && errors.Len() == 0 && out.Len() == 0 {
		t.Fatalf("code %d and no word", code)
	}
}

// toldCommands are read by the next test, as many as make it short.
var toldCommands = []string{"explain R --json", "explain R", "tune R", "export R --csv", "export R --json", "diff R@0s R@last --json", "heap R", "list --json"}

// TestAnAnswerFromACutOrFlippedRecordingSaysSoOrIsTheSame changes one bit, or cuts at
// any byte.
func TestAnAnswerFromACutOrFlippedRecordingSaysSoOrIsTheSame(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	many := 120
	if n, err := strconv.Atoi(os.Getenv(cellsManyEnv)); err == nil {
		many = n
	}
	whole, err := os.ReadFile(genuine(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	path := filepath.Join(dir, "highwater", "a-1.hwm")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	answer := func(command string, b []byte) (out, said string) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		cli.Main(strings.Fields(strings.ReplaceAll(command, "R", path)), strings.NewReader(""), &stdout, &stderr)
		return stdout.String(), stderr.String()
	}
	wants := map[string]string{}
	rng, told := rand.New(rand.NewPCG(5, 6)), 0
	for n := range many {
		command, b, at := toldCommands[n/2%len(toldCommands)], bytes.Clone(whole), rng.IntN(len(whole))
		if wants[command] == "" {
			wants[command], _ = answer(command, whole)
		}
		want := wants[command]
		if n%2 == 0 {
			b = b[:at]
			want = strings.Replace(want, fmt.Sprintf(`"bytes": %d`, len(whole)), fmt.Sprintf(`"bytes": %d`, at), 1)
		} else {
			b[at] ^= 1 << rng.IntN(8)
		}
		switch got, said := answer(command, b); {
		case strings.Contains(said, "damaged"), strings.Contains(said, "cut"), strings.Contains(said, "not a highwater recording"),
			strings.Contains(got, `"problem"`):
			told++
		case got != want:
			t.Errorf("%s, changed at byte %d of %d (cut: %v): another answer and no word of it\n%s\n%s", command, at, len(whole), n%2 == 0,
				got[:min(len(got), 1500)], said)
		}
	}
	t.Logf("%d of %d were told", told, many)
}
