package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// receiver is a bucket, a collector of logs and a server of profiles: it keeps what it is sent.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string][]byte
	posts   map[string][]string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{objects: map[string][]byte{}, posts: map[string][]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		switch q.Method {
		case http.MethodPut:
			r.objects[q.URL.Path] = body
		case http.MethodGet:
			b, ok := r.objects[q.URL.Path]
			if !ok {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = w.Write(b)
		default:
			r.posts[q.URL.Path] = append(r.posts[q.URL.Path], string(body))
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) of(path string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.posts[path]
}

// many starts as many programs as there are groups, each in its own, at once. After them one is
// killed that is no Go program, in a group that an agent knows; and one that a first agent saw
// close to its limit is killed before the second begins: it is stopped, and the kernel ends it,
// as the largest of its group, for the memory that another takes there. Let grow by itself it
// would read its own code from disk again and again, for up to a minute, before it is killed.
const many = `
run() {
	"$HW" agent --store "file://$DIR/store" --spool "$DIR/spool" --recordings s3://kills/of-a-test --bucket-endpoint "$URL" --otlp "$URL" --push "pyroscope+$URL" --tenant test --node node-7 &
	agent=$!
}
run
read found
(echo 0 > "$ROOMY/cgroup.procs"; HIGHWATER_HEAP_PROFILE=1 OTEL_SERVICE_NAME=almost exec "$LEAK" -rate 8MiB -for 10m) >/dev/null &
almost=$!
while [ "$(cat "$ROOMY"/memory.usage_in_bytes "$ROOMY"/memory.current 2>/dev/null)" -lt 56000000 ]; do sleep 0.05; done
kill -STOP $almost
sleep 2 # it is looked at once a second at least
n=0
for g in $GROUPS_OF_TEST; do
	n=$((n+1))
	(echo 0 > "$g/cgroup.procs"; HIGHWATER_HEAP_PROFILE=1 OTEL_SERVICE_NAME=service-$n exec "$LEAK" -rate 2MiB -for 5m) >/dev/null &
	last=$g
done
read told
(echo 0 > "$last/cgroup.procs"; exec tail /dev/zero) 2>/dev/null
read untold
kill -TERM $agent
wait $agent
(echo 0 > "$ROOMY/cgroup.procs"; head -c 24000000 /dev/zero | tail -c 24000000) >/dev/null
wait $almost
run
read all
kill -TERM $agent
wait $agent
`

func TestEveryKillIsAnIncidentWhetherHeldOrNot(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace, hwtest.Program("unshare"))
	hwtest.LeftToMatrix(t, "kills ten programs at once, and waits a minute for the kernel's counts")
	kills := 10
	if n, err := strconv.Atoi(os.Getenv("HIGHWATER_KILLS")); err == nil {
		kills = n
	}
	dir, to, roomy := t.TempDir(), newReceiver(t), hwtest.Limit(t, 64*sample.MiB)
	var groups []string
	for range kills {
		groups = append(groups, hwtest.Limit(t, 48*sample.MiB).Dir)
	}
	tool := highwater(t)
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", many)
	cmd.Env = append(cmd.Environ(), "HW="+tool, "DIR="+dir, "URL="+to.URL, "GROUPS_OF_TEST="+strings.Join(groups, " "), "ROOMY="+roomy.Dir,
		"LEAK="+testprog(t, "leak"))
	said, told := tellOn(t, cmd)
	told("watching every Go program of node-7", "start")
	for i := range kills {
		told("incident ", []string{"", "now one that is no Go program"}[boolean(i == kills-1)])
	}
	told("incident ", "end")
	told("leak is close to its limit", "")
	told("watching every Go program of node-7", "")
	told("incident ", "end")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said())
	}
	checkKills(t, tool, dir, kills, to, said())
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func checkKills(t *testing.T, tool, dir string, kills int, to *receiver, said string) {
	t.Helper()
	keys := filepath.Join(dir, "keys")
	if err := os.WriteFile(keys, []byte("agent:of-the-agent\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(args ...string) []byte {
		c := exec.Command(tool, args...)
		c.Env = append(c.Environ(), "HIGHWATER_STORE=file://"+filepath.Join(dir, "store"), "HIGHWATER_TENANT=test", "AWS_ENDPOINT_URL_S3="+to.URL,
			"HIGHWATER_BUCKET_CREDENTIALS="+keys, "XDG_STATE_HOME="+dir)
		var wrong strings.Builder
		c.Stderr = &wrong
		out, err := c.Output()
		if refused := new(exec.ExitError); args[0] == "tune" && errors.As(err, &refused) && refused.ExitCode() == app.ExitInconclusive {
			return out // of a program that leaks until it is killed it predicts nothing, and says so
		}
		if err != nil {
			t.Fatalf("%v: %v\n%s%s\n%s", args, err, out, wrong.String(), said)
		}
		return out
	}
	var got struct {
		Causes []struct {
			Service, Class, Where, Sentence, Cause string
			Kills                                  int
			Newest                                 string `json:"newest_incident"`
		}
	}
	if err := json.Unmarshal(ask("fleet", "incidents", "--tenant", "test", "--json"), &got); err != nil {
		t.Fatal(err)
	}
	right, unread := 0, map[string]bool{}
	var fetched []string
	for _, c := range got.Causes {
		switch {
		case c.Class == "unread":
			unread[c.Service] = true
			if c.Service == "almost" && (!strings.HasPrefix(c.Where, "leak/main.go:") || !strings.Contains(c.Cause, "No agent ran")) {
				t.Errorf("of the kill between two agents: %+v", c)
			}
		case strings.HasPrefix(c.Service, "service-") && c.Class == "leak" && strings.HasPrefix(c.Where, "leak/main.go:") && c.Kills == 1:
			right++
			fetched = append(fetched, c.Newest)
		default:
			t.Errorf("%+v", c)
		}
	}
	if right != kills || len(unread) != 2 || !unread["almost"] || !unread[fmt.Sprintf("service-%d", kills)] {
		t.Fatalf("%d of %d kills have their line; not read: %v\n%s", right, kills, unread, said)
	}
	for _, command := range [][]string{{"explain", "--json"}, {"export", "--json"}, {"tune", "--json"}} {
		if out := ask(append(command, fetched[0][:12])...); !json.Valid(out) {
			t.Errorf("%v of an incident in a bucket: %s", command, out)
		}
	}
	for _, one := range fetched { // each service has its own recording, though the line is the same
		ask("explain", "--json", one[:12])
	}
	logs, pushed := to.of("/v1/logs"), to.of("/push.v1.PusherService/Push")
	if len(logs) != kills+2 || len(pushed) < kills || !strings.Contains(strings.Join(logs, ""), "service-1") || !strings.Contains(pushed[0], "rawProfile") {
		t.Errorf("%d log records and %d profiles", len(logs), len(pushed))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "spool", "recordings", "*")); len(left) != 0 {
		t.Errorf("recordings that wait: %v", left)
	}
}
