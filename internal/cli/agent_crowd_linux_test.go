package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// crowd runs an agent, and in each group a program that grows to a half of its limit and
// stays there.
const crowd = `
"$HW" agent --store "file://$DIR/store" --spool "$DIR/spool" --recordings s3://kills/of-a-test --bucket-endpoint "$URL" --tenant test --node node-7 --metrics "$METRICS" &
agent=$!
read found
n=0
for g in $GROUPS_OF_TEST; do
	n=$((n+1))
	(echo 0 > "$g/cgroup.procs"; HIGHWATER_HEAP_PROFILE=1 OTEL_SERVICE_NAME=service-$n exec "$LEAK" -rate 4MiB -max 30MiB -for 10m) >/dev/null &
done
read done
kill -TERM $agent
wait $agent
`

// Twenty programs of twenty limits are killed within a second, as where a node's neighbours
// all take the same bad request: each is a row, and of nearly all the last moment was read.
func TestTwentyKillsWithinASecondAreTwentyIncidents(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace, hwtest.Program("unshare"))
	hwtest.LeftToMatrix(t, "kills twenty programs at once")
	const kills, whole = 20, 16
	dir, to := t.TempDir(), newReceiver(t)
	var groups []string
	for range kills {
		groups = append(groups, hwtest.Limit(t, 48*sample.MiB).Dir)
	}
	metrics := freeAddress(t)
	tool := highwater(t)
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", crowd)
	cmd.Env = append(cmd.Environ(), "HW="+tool, "DIR="+dir, "URL="+to.URL, "METRICS="+metrics, "GROUPS_OF_TEST="+strings.Join(groups, " "),
		"LEAK="+testprog(t, "leak"))
	said, told := tellOn(t, cmd)
	told("watching every Go program of node-7", "start")
	awaitWatched(t, metrics, kills, groups)
	kill := readyToKill(t, groups)
	began := time.Now()
	kill()
	killed := time.Now()
	store, err := fleet.Open("file://"+filepath.Join(dir, "store"), fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var got []fleet.Incident
	rows, kept := time.Duration(0), time.Duration(0)
	for rows == 0 || kept == 0 {
		if time.Since(killed) > 4*time.Minute {
			t.Fatalf("%d incidents and %d recordings of %d kills", len(got), to.recordings(), kills)
		}
		if got, err = fleet.AllIncidents(t.Context(), store, fleet.Scope{Tenant: "test"}); err != nil {
			t.Fatal(err)
		}
		if rows == 0 && len(got) == kills {
			rows = time.Since(killed)
		}
		if kept == 0 && to.recordings() == kills {
			kept = time.Since(killed)
		}
		time.Sleep(50 * time.Millisecond) // nothing tells
	}
	for i := range kills {
		told("incident ", []string{"", "end"}[boolean(i == kills-1)])
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said())
	}
	t.Logf("%d kills in %.1f s; after the last %.1f s until all rows were in the store, %.1f s until all recordings were in the bucket", kills,
		killed.Sub(began).Seconds(), rows.Seconds(), kept.Seconds())
	full := 0
	for _, in := range got {
		if in.Kind != fleet.KindKill {
			t.Errorf("%+v", in)
		}
		var ledger map[string]int64
		if in.Class != fleet.Unread && json.Unmarshal([]byte(in.Ledger), &ledger) == nil && len(ledger) > 3 && strings.HasSuffix(in.File, "leak/main.go") {
			full++
		} else {
			t.Logf("not whole: %s %q %s:%d %s", in.Service, in.Class, in.File, in.Line, in.Ledger)
		}
	}
	if full < whole {
		t.Errorf("of %d kills the last moment was read; at least %d were asked\n%s", full, whole, said())
	}
}

// recordings is how many the bucket has.
func (r *receiver) recordings() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path := range r.objects {
		if strings.HasSuffix(path, ".hwm") {
			n++
		}
	}
	return n
}

// awaitWatched waits until an agent watches so many programs, all at the size that they keep.
func awaitWatched(t *testing.T, metrics string, n int, groups []string) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < 3*time.Minute; time.Sleep(100 * time.Millisecond) {
		answer, err := http.Get("http://" + metrics + "/metrics")
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		large := 0
		for _, g := range groups {
			for _, name := range []string{"memory.usage_in_bytes", "memory.current"} {
				var used int
				if b, err := os.ReadFile(filepath.Join(g, name)); err == nil {
					if _, err := fmt.Sscan(string(b), &used); err == nil && used > 28<<20 {
						large++
					}
				}
			}
		}
		if large >= len(groups) && bytes.Contains(text, fmt.Appendf(nil, "\nhighwater_agent_watched %d\n", n)) {
			return
		}
	}
	t.Fatalf("the agent did not watch %d programs", n)
}

// freeAddress is one of loopback that nobody had a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// crowder waits in a cgroup until it is told to take what is left there.
const crowder = `echo 0 > "$0/cgroup.procs"; echo here; read now; exec head -c 26000000 /dev/zero | tail -c 26000000 >/dev/null`

// readyToKill starts in each group another program. kill has them all take what is left at once: the kernel ends
// the largest of each group.
func readyToKill(t *testing.T, groups []string) (kill func()) {
	t.Helper()
	var all []crowding
	for _, g := range groups {
		all = append(all, crowdInto(t, g))
	}
	return func() {
		for _, one := range all {
			one.now(t)
		}
		for _, one := range all {
			if err := one.cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
	}
}

// crowding is a program that waits in a cgroup until it is told to take what is left there.
type crowding struct {
	cmd *exec.Cmd
	in  io.Writer
}

// now tells it.
func (c crowding) now(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(c.in, "now\n"); err != nil {
		t.Error(err)
	}
}

// crowdInto starts one.
func crowdInto(t *testing.T, g string) crowding {
	t.Helper()
	cmd := exec.Command("sh", "-c", crowder, g)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	return crowding{cmd, in}
}
