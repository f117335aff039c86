package cli_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// How the commands that need more than recordings are run, by the beginning of their form; the longest counts.
var ways = map[string]func(*testing.T, *printedWorld, folder, []string) ([]byte, error){
	"highwater open":                  opened,
	"highwater open --html":           plainly,
	"highwater watch":                 watched,
	"highwater heap":                  besideAProgram,
	"highwater doctor":                besideAProgram,
	"highwater export --heapsnapshot": besideAProgram,
	"highwater import --every":        besideAProgram,
	"highwater import --url":          forAWhile,
	"highwater import":                fromFiles,
	"highwater export --push":         pushed,
	"highwater top":                   atATerminal,
	"highwater top --once":            besideAProgram,
	"highwater top --json":            besideAProgram,
	"highwater agent":                 asAnAgent,
	"highwater agent --check":         besideAProgram,
	"highwater agent --for":           besideAProgram,
	"highwater try --build":           inARepository,
	"highwater note --remove":         noted,
}

func wayOf(form string) func(*testing.T, *printedWorld, folder, []string) ([]byte, error) {
	best := ""
	for begins := range ways {
		if len(begins) > len(best) && strings.HasPrefix(form, begins) {
			best = begins
		}
	}
	if best == "" {
		return plainly
	}
	return ways[best]
}

// otherCodes are those with which a command may end, besides 0.
var otherCodes = map[string][]int{
	"highwater try":       {4}, // the base showed no fault
	"highwater import":    {4}, // what one file tells is not enough for a verdict
	"highwater tune":      {4},
	"highwater heap":      {4}, // a busy machine copies too slowly
	"highwater watch":     {143},
	"highwater fleet fit": {4}, // of a service that leaks nothing is recommended
}

func mayEndWith(form string, code int) bool {
	for begins, codes := range otherCodes {
		if strings.HasPrefix(form, begins) && slices.Contains(codes, code) {
			return true
		}
	}
	return false
}

// silent are commands that say nothing where all is well.
var silent = []string{"man", "note"}

const longest = 2 * time.Minute

func (w *printedWorld) command(t *testing.T, f folder, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = f.dir, f.env
	cmd.WaitDelay = time.Second
	return cmd
}

func plainly(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	return w.command(t, f, w.tool, args...).CombinedOutput()
}

// opened asks for the page that a command serves, and ends it as Ctrl-C does.
func opened(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	cmd := w.command(t, f, w.tool, args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	said, err := bufio.NewReader(out).ReadBytes('\n')
	address := regexp.MustCompile(`http://\S+`).Find(said)
	if err != nil || address == nil {
		_ = cmd.Process.Kill()
		return said, errors.Join(errors.New("no address was printed"), err, cmd.Wait())
	}
	answer, err := http.Get(string(address))
	if err == nil {
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("the page answers %s", answer.Status)
		}
	}
	if stop := cmd.Process.Signal(os.Interrupt); stop != nil {
		return said, errors.Join(err, stop)
	}
	return said, errors.Join(err, cmd.Wait())
}

// beside runs a shell's words in a namespace of processes in which a server runs, whose process is $server. Others'
// programs are not seen from there.
const beside = `mkfifo said
ANYTHING_FOR=5m ./server >said &
server=$!
read line <said
`

func (w *printedWorld) beside(t *testing.T, f folder, script string) *exec.Cmd {
	return w.command(t, f, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", beside+script)
}

// shell quotes words, but for those that stand for the server's process.
func shell(words []string) string {
	var out []string
	for i, word := range words {
		switch {
		case word == "4711", word == "PID", word == "$server", word == "1" && i > 0:
			out = append(out, "$server")
		default:
			out = append(out, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
		}
	}
	return strings.Join(out, " ")
}

func besideAProgram(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	if args[0] == "agent" {
		args = append(args, "--spool", "spool")
	}
	return w.beside(t, f, `exec "$HW" `+shell(args)).CombinedOutput()
}

// watched ends the program that is watched, unless the watch itself has an end. Where the watch is of a name, it
// waits for the next program that is called so, and is ended as systemd does.
func watched(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	if slices.Contains(args, "--for") {
		return besideAProgram(t, w, f, args)
	}
	whose := "$server"
	if slices.Contains(args, "server") {
		whose = "$tool"
	}
	return w.beside(t, f, `mkfifo told
"$HW" `+shell(args)+` 2>told &
tool=$!
while read line; do
	echo "$line"
	case $line in watching*) kill `+whose+`;; esac
done <told
wait $tool`).CombinedOutput()
}

// forAWhile ends what would go on until the program does.
func forAWhile(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	return w.beside(t, f, `exec timeout --preserve-status -s INT 2 "$HW" `+shell(args)).CombinedOutput()
}

// asAnAgent ends an agent, as systemd does, once it watches.
func asAnAgent(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	cmd := w.beside(t, f, `"$HW" `+shell(append(args, "--spool", "spool"))+` &
agent=$!
read told
kill -TERM $agent
wait $agent`)
	said, told := tellOn(t, cmd)
	told("watching every Go program of", "end")
	err := cmd.Wait()
	return []byte(said()), err
}

// atATerminal looks at the live view and leaves it.
func atATerminal(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	if err := os.WriteFile(filepath.Join(f.dir, "live.sh"), []byte(beside+`exec "$HW" `+shell(args)), 0o600); err != nil {
		return nil, err
	}
	s := openTerminal(t)
	s.press(t, "cd '"+f.dir+"'\n")
	for _, pair := range f.env {
		if name, value, _ := strings.Cut(pair, "="); slices.Contains([]string{"PATH", "XDG_STATE_HOME", "ANYTHING_PORT", "HW"}, name) {
			s.press(t, "export "+name+"='"+value+"'\n")
		}
	}
	s.press(t, "unshare --pid --fork --kill-child --mount-proc sh live.sh; echo left with $?\n")
	s.await(t, `server[^0-9]`)
	s.press(t, "q")
	code := s.await(t, `left with ([0-9]+)`)[1]
	if code != "0" {
		return []byte(s.text), fmt.Errorf("ended with %s", code)
	}
	return []byte(s.text), nil
}

// fromFiles makes what is imported: profiles, and a log of GODEBUG=gctrace=1.
func fromFiles(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	return w.command(t, f, "sh", "-ec", `"$HW" export --pprof server-3 -o heap.1.pb.gz
GODEBUG=gctrace=1 ./server 2>server.log
exec "$HW" `+shell(args[:1])+" "+strings.Join(args[1:], " ")).CombinedOutput() // the shell's own wildcards
}

// pushed takes what is pushed.
func pushed(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	var got int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a request that ends early has nothing
		got += len(body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	for i := range args {
		args[i] = strings.NewReplacer("127.0.0.1:4040", server.Listener.Addr().String(), "pyroscope+URL", "pyroscope+"+server.URL).Replace(args[i])
	}
	out, err := plainly(t, w, f, args)
	if err == nil && got == 0 {
		err = errors.New("nothing came")
	}
	return out, err
}

// inARepository makes commits to compare.
func inARepository(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	for name, text := range map[string]string{"go.mod": "module server\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return w.command(t, f, "sh", "-ec", `cache=$(go env GOCACHE)
export GOCACHE=$cache
git init -q .
git config user.email you@example.org
git config user.name You
git add go.mod main.go
for n in 1 2 3 4; do echo "// $n" >>main.go; git add main.go; git commit -q -m "change $n"; done
git branch fix
git branch fix-upload
exec "$HW" `+shell(args)).CombinedOutput()
}

// noted removes a note that was there.
func noted(t *testing.T, w *printedWorld, f folder, args []string) ([]byte, error) {
	if out, err := plainly(t, w, f, []string{"note", args[1], "for a while"}); err != nil {
		return out, err
	}
	return plainly(t, w, f, args)
}
