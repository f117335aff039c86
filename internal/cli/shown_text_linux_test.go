package cli_test

import (
	"bufio"
	"database/sql"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// attack is what no terminal may get of a name: a title, a colour in one byte and as a
// character, a line of its own, a turn of direction.
const attack = "\x1b]0;T\x07\x9b31m\u009b31m\rX\nFORGED line\u202e\u2066\x7f"

// harmless fails where a text would command a terminal, or holds a line of a stranger.
func harmless(t *testing.T, what string, out []byte) {
	t.Helper()
	for _, line := range strings.Split(string(out), "\n") {
		bad := strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' })
		if bad || !utf8.ValidString(line) || strings.HasPrefix(strings.TrimSpace(line), "FORGED") {
			t.Errorf("%s: %q", what, line)
		}
	}
}

// hostile is a copy of a recording in which every text ends with the attack.
func hostile(t *testing.T, path string) string {
	t.Helper()
	forged := filepath.Join(t.TempDir(), "forged.hwm")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(forged, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", forged)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND c.type = 'TEXT'")
	if err != nil {
		t.Fatal(err)
	}
	var columns [][2]string
	for rows.Next() {
		var c [2]string
		if err := rows.Scan(&c[0], &c[1]); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, c)
	}
	for _, c := range columns {
		where := ""
		if c[0] == "meta" { // numbers among them; a command is JSON
			where = " WHERE key IN ('tool', 'host', 'kernel', 'verdict', 'sentence', 'fingerprint', 'state', 'load', 'ready')"
		}
		if c == [2]string{"meta", "key"} {
			continue
		}
		if _, err := db.Exec("UPDATE "+c[0]+" SET "+c[1]+" = "+c[1]+" || ?"+where, attack); err != nil && !strings.Contains(err.Error(), "constraint") {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(`INSERT OR REPLACE INTO meta VALUES ('command', json_array('./x', ?)), ('load', ?), ('fingerprint', ?)`, strings.ToValidUTF8(attack, ""),
		attack, "hw-abc"+attack); err != nil {
		t.Fatal(err)
	}
	if len(columns) < 10 {
		t.Fatalf("%d columns of text", len(columns))
	}
	return forged
}

func TestNoTextOfARecordingCommandsATerminal(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	s := watch(t, "--heap", "peak", "--for", "1500ms", "--", testprog(t, "steady"), "-live", "8MiB", "-for", "10m")
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if err := os.Mkdir(filepath.Join(state, "highwater"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, genuine := range []string{s.recording, imported(t)} {
		forged := hostile(t, genuine)
		kept := filepath.Join(state, "highwater", "kept"+filepath.Base(filepath.Dir(genuine))+attack[:4]+".hwm")
		if err := os.Link(forged, kept); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"explain", forged}, {"explain", kept}, {"explain", "--evidence", "all", forged}, {"explain", "--json", forged},
			{"explain", "--list", ".", forged},
			{"explain", "--latency", forged}, {"diff", "--from", "0s", "--to", "last", forged}, {"diff", genuine, forged}, {"tune", forged}, {"heap", forged},
			{"heap", "--json", forged}, {"heap", "--type", "x", forged},
			{"export", "--json", forged}, {"export", "--csv", forged}, {"list"}, {"list", "--json"}, {"note", "hw-abc"}, {"note"},
			{"open", forged, "--html", filepath.Join(t.TempDir(), "page")}, {"doctor"}} {
			out, err := exec.Command(highwater(t), args...).CombinedOutput()
			if len(out) == 0 && args[0] != "note" {
				t.Errorf("%v says nothing: %v", args, err)
			}
			harmless(t, strings.Join(args, " "), out)
		}
	}
}

// The colours that a terminal gets are ours.
func TestATerminalGetsOurColoursAndNoOthers(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Program("script"))
	forged := hostile(t, imported(t))
	out, err := exec.Command("script", "-qec", "TERM=xterm "+highwater(t)+" explain "+forged, "/dev/null").CombinedOutput()
	if !strings.Contains(string(out), "\x1b[1mMEMORY") {
		t.Fatalf("no colour: %v\n%q", err, out)
	}
	ours := regexp.MustCompile("\x1b\\[(0|1|31|32|36)m").ReplaceAll(out, nil)
	harmless(t, "explain", []byte(strings.ReplaceAll(string(ours), "\r\n", "\n")))
}

// What a program, a server and a log say of themselves.
func TestNoNameOfALivingProgramCommandsATerminal(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	name := strings.ReplaceAll(attack, "/", "") + ";touch PWN;$(id)"
	dir := t.TempDir()
	program := filepath.Join(dir, name)
	if err := os.Link(testprog(t, "steady"), program); err != nil {
		text, err := os.ReadFile(testprog(t, "steady"))
		if err == nil {
			err = os.WriteFile(program, text, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "log")
	if err := os.WriteFile(log, []byte(strings.ReplaceAll(name, "\n", "")+
		" | gc 1 @1.000s 0%: 0.1+0+0 ms clock, 0.1+0/0/0+0 ms cpu, 4->4->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := answering(t, "HTTP/1.1 500 "+strings.NewReplacer("\r", "", "\n", "").Replace(attack)+"\r\nContent-Length: 0\r\n\r\n")
	t.Setenv("XDG_STATE_HOME", dir)
	for _, args := range [][]string{{"run", "--for", "300ms", "--", program, "-live", "8MiB", "-for", "10m"}, {"doctor", program}, {"import", log},
		{"import", "--url", url, "--every", "100ms", "--for", "300ms"}, {"list"}, {"explain"}, {"run", "--", program + "none"}} {
		cmd := exec.Command(highwater(t), args...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		harmless(t, args[0], out)
	}
	if _, err := os.Stat(filepath.Join(dir, "PWN")); err == nil {
		t.Error("PWN")
	}
}

// answering is a server that gives one answer as it is.
func answering(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_ = r.Body.Close()
				_, _ = c.Write([]byte(answer))
			}
			c.Close()
		}
	}()
	return "http://" + l.Addr().String() + "/debug/pprof/heap"
}

func TestASuggestedCommandNamesTheRecordingAndNothingElse(t *testing.T) {
	hwtest.Need(t, hwtest.Program("bash"))
	text, err := os.ReadFile(imported(t))
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	inState := filepath.Join(state, "highwater")
	if err := os.Mkdir(inState, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x;touch PWN;$(touch PWN)-1", "-o-2026", "it's", "a@last", "tab\tand\nline", "\x1b[31m", "plain-1"} {
		dir := t.TempDir()
		for _, at := range []string{dir, inState} {
			path := filepath.Join(at, name+".hwm")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			argument := path
			if at == dir && strings.HasPrefix(name, "-") {
				argument = "./" + name + ".hwm"
			}
			cmd := exec.Command(highwater(t), "explain", argument)
			cmd.Dir = dir
			out, err := cmd.Output()
			if c := code(err); c != 0 && c != 4 {
				t.Fatalf("%q: %v\n%s", name, err, out)
			}
			_, next, _ := strings.Cut(string(out), "\nMore: ")
			next, _, _ = strings.Cut(strings.ReplaceAll(next, " \\\n", " "), "\n") // folded as a shell reads on
			next, _, _ = strings.Cut(next, "      highwater ")
			again := exec.Command("bash", "-c", next+" --html page") // highwater open NAME
			again.Dir, again.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(highwater(t))+":"+os.Getenv("PATH"))
			if said, err := again.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", next, err, said)
			}
			_, page := os.Stat(filepath.Join(dir, "page"))
			if _, err := os.Stat(filepath.Join(dir, "PWN")); page != nil || !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v, PWN %v", next, page, err)
			}
			if err := errors.Join(os.Remove(path), os.Remove(filepath.Join(dir, "page"))); err != nil {
				t.Error(err)
			}
		}
	}
}
