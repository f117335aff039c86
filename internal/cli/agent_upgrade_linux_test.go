package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// upgrade replaces an agent, in the way that $HOW names: as systemctl restart does, or as a DaemonSet whose
// next pod starts next to the one before (maxSurge).
const upgrade = `
agent() { "$HW" agent --store "file://$DIR/store" --spool "$DIR/spool" --recordings "$DIR/recordings" --tenant test --node node-7 --metrics "$METRICS" & agent=$!; }
agent
read found
n=0
for g in $GROUPS_OF_TEST; do
	n=$((n+1))
	(echo 0 > "$g/cgroup.procs"; HIGHWATER_HEAP_PROFILE=1 OTEL_SERVICE_NAME=service-$n exec "$LEAK" -rate 4MiB -max 30MiB -for 10m) >/dev/null &
done
echo "programs run" >&2
read replace
if [ "$HOW" = restart ]; then
	kill -TERM $agent; wait $agent; agent
else
	before=$agent; agent; read both; kill -TERM $before; wait $before
fi
read done
kill -TERM $agent
wait $agent
`

// An agent is replaced while programs run, and they are killed one after the other meanwhile: each kill is one
// incident, held by one of the two agents or said to be held by none.
func TestAKillWhileAnAgentIsReplacedIsAnIncident(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace, hwtest.Program("unshare"))
	kills := 3
	if hwtest.InMatrix() {
		kills = 20
	}
	for _, how := range []string{"restart", "surge"} {
		t.Run(how, func(t *testing.T) {
			if how == "surge" { // where all tests run at once it takes minutes
				hwtest.LeftToMatrix(t, "an agent that starts before the other ends")
			}
			replaceAgent(t, how, kills)
		})
	}
}

// survivors are programs that nobody kills: how long no agent holds them is measured.
const survivors = 2

func replaceAgent(t *testing.T, how string, kills int) {
	dir, metrics := t.TempDir(), freeAddress(t)
	var groups []string
	for range kills + survivors {
		groups = append(groups, hwtest.Limit(t, 48*sample.MiB).Dir)
	}
	cmd := inNamespace(upgrade, "HOW="+how, "HW="+highwater(t), "DIR="+dir, "METRICS="+metrics, "GROUPS_OF_TEST="+strings.Join(groups, " "),
		"LEAK="+testprog(t, "leak"))
	said, told := tellOn(t, cmd)
	told("watching every Go program of node-7", "start")
	awaitWatched(t, metrics, len(groups), groups)
	var all []crowding
	for _, g := range groups[:kills] {
		all = append(all, crowdInto(t, g))
	}
	ctx, stop := context.WithCancel(t.Context())
	unheld := watchTracers(ctx, t, groups[kills:])
	var killing sync.WaitGroup
	killing.Go(func() {
		tick := time.NewTicker(60 * time.Millisecond)
		defer tick.Stop()
		for _, one := range all {
			one.now(t)
			<-tick.C
		}
		for _, one := range all {
			_ = one.cmd.Wait() // where a program is held as it dies, its memory is not free yet, and the kernel may end this one too
		}
	})
	told("programs run", "replace")
	if how == "surge" {
		told("another agent uses the spool", "now")
	}
	killing.Wait()
	got := awaitIncidents(t, "file://"+filepath.Join(dir, "store"), kills, said)
	stop()
	told("incident ", "end")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said())
	}
	held := map[string]bool{}
	for _, in := range got {
		var ledger map[string]int64
		switch {
		case in.Kind != fleet.KindKill: // one that an agent which ended left close to its limit
		case in.Class != fleet.Unread && json.Unmarshal([]byte(in.Ledger), &ledger) == nil && len(ledger) > 3:
			held[in.Service] = true
		case in.Class == fleet.Unread && regexp.MustCompile(`no agent ran|No agent ran|could not be explained`).MatchString(in.Sentence+in.Cause):
		default:
			t.Errorf("neither held nor said not to be: %+v", in)
		}
	}
	t.Logf("%s: of %d kills %d were held; no agent held a program for %v at most", how, kills, len(held), <-unheld)
}

// awaitIncidents waits until a store has incidents of so many services. A cgroup may have more: where a program is
// held as it dies, its memory is not free yet, and the kernel ends another.
func awaitIncidents(t *testing.T, address string, n int, said func() string) (got []fleet.Incident) {
	t.Helper()
	store, err := fleet.Open(address, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for begun := time.Now(); time.Since(begun) < 4*time.Minute; time.Sleep(100 * time.Millisecond) { // nothing tells
		if got, err = fleet.AllIncidents(t.Context(), store, fleet.Scope{Tenant: "test"}); err != nil {
			t.Fatal(err)
		}
		services := map[string]bool{}
		for _, in := range got {
			if in.Kind == fleet.KindKill {
				services[in.Service] = true
			}
		}
		if len(services) == n {
			return got
		}
	}
	t.Fatalf("%d incidents of %d kills: %+v\n%s", len(got), n, got, said())
	return nil
}

// watchTracers looks at the programs of cgroups until ctx ends: for how long one of them had no tracer, at most.
func watchTracers(ctx context.Context, t *testing.T, groups []string) <-chan time.Duration {
	t.Helper()
	var status []string
	for _, g := range groups {
		pid, err := os.ReadFile(filepath.Join(g, "cgroup.procs"))
		if err != nil {
			t.Fatal(err)
		}
		status = append(status, "/proc/"+strings.TrimSpace(string(pid))+"/task/*/status")
	}
	longest := make(chan time.Duration, 1)
	go func() {
		most, since := time.Duration(0), make([]time.Time, len(status))
		for ctx.Err() == nil {
			for i, pattern := range status {
				now := time.Now()
				if hasTracer(pattern) || since[i].IsZero() {
					since[i] = now
				}
				most = max(most, now.Sub(since[i]))
			}
			time.Sleep(time.Millisecond)
		}
		longest <- most
	}()
	return longest
}

// hasTracer says that a thread of a process has a tracer.
func hasTracer(pattern string) bool {
	files, _ := filepath.Glob(pattern)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && !strings.Contains(string(text), "TracerPid:\t0\n") {
			return true
		}
	}
	return false
}
