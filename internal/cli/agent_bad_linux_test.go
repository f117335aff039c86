package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/app"
	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/show/fleet"
)

// multitude runs more programs than an agent may watch.
const multitude = `
"$HW" agent --store "file://$DIR/store" --spool "$DIR/spool" --recordings "$DIR/recordings" --tenant test --node node-7 --metrics "$METRICS" --at-most "$MOST" &
agent=$!
read found
for n in $(seq "$ALL"); do GOMAXPROCS=1 "$TICKER" -every 10s -for 20m >/dev/null & done
read done
kill -TERM $agent
wait $agent`

// A node has more programs than --at-most: as many are watched, and what is left out is counted in the metrics
// and said. make matrix has 500 of them and the default bound.
func TestWhatIsBeyondAtMostIsCountedAndSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ all, most int }{{12, 5}, {500, 200}} {
		t.Run(strconv.Itoa(c.all), func(t *testing.T) {
			hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("unshare"))
			if c.all > 100 {
				hwtest.LeftToMatrix(t, "starts 500 programs")
			}
			dir, metrics := t.TempDir(), freeAddress(t)
			cmd := inNamespace(multitude, "HW="+highwater(t), "DIR="+dir, "METRICS="+metrics, "TICKER="+testprog(t, "ticker"), fmt.Sprint("ALL=", c.all),
				fmt.Sprint("MOST=", c.most))
			said, told := tellOn(t, cmd)
			told("watching every Go program of node-7", "start")
			awaitMetrics(t, metrics, fmt.Sprintf("highwater_agent_watched %d", c.most), fmt.Sprintf(`highwater_agent_unwatched{why="at-most"} %d`, c.all-c.most))
			if kept, _ := filepath.Glob(filepath.Join(dir, "recordings", "*"+app.Suffix)); len(kept) > 0 {
				t.Errorf("of programs that do nothing there are recordings: %v", kept)
			}
			told("highwater: ", "end")
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, said())
			}
			if !strings.Contains(said(), "processes are beyond --at-most; nothing of them reaches the store") {
				t.Errorf("%s", said())
			}
		})
	}
}

// inNamespace is a script in a PID namespace of its own, whose agent sees the programs of no other test.
func inNamespace(script string, env ...string) *exec.Cmd {
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script)
	cmd.Env = append(cmd.Environ(), env...)
	return cmd
}

// awaitMetrics waits until an agent's metrics have all these lines, or the agent is gone.
func awaitMetrics(t *testing.T, address string, want ...string) {
	t.Helper()
	var text []byte
	silent := 0
	for begun := time.Now(); time.Since(begun) < 4*time.Minute; time.Sleep(100 * time.Millisecond) {
		answer, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			if silent++; text != nil && silent == 50 {
				break
			}
			continue
		}
		silent = 0
		text, _ = io.ReadAll(answer.Body)
		answer.Body.Close()
		all := true
		for _, line := range want {
			all = all && bytes.Contains(text, []byte("\n"+line+"\n"))
		}
		if all {
			return
		}
	}
	t.Fatalf("the metrics never had %q:\n%s", want, text)
}

// underDebugger runs a program under a debugger, and then goes on without one. At its first look the agent sees one program, which
// wants no watcher.
const underDebugger = `
HIGHWATER=off "$TICKER" -for "$LASTS" >/dev/null &
until grep -q ticker /proc/$!/cmdline; do :; done
"$HW" agent --store "file://$DIR/store" --spool "$DIR/spool" --recordings "$DIR/recordings" --tenant test --node node-7 --metrics "$METRICS" &
agent=$!
read found
HIGHWATER=off "$TRACER" -attach env -u HIGHWATER OTEL_SERVICE_NAME=debugged "$TICKER" -for "$LASTS" >"$DIR/tracer.out"
kill -TERM $agent
wait $agent`

// A debugger has a program: the agent leaves it to the debugger and watches its memory from outside, without
// its last moment. The program ends under its debugger as it would have without an agent.
func TestAProgramThatADebuggerTracesIsLeftToIt(t *testing.T) {
	t.Parallel()
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("unshare"))
	dir, metrics := t.TempDir(), freeAddress(t)
	cmd := inNamespace(underDebugger, "HW="+highwater(t), "DIR="+dir, "METRICS="+metrics, "LASTS=15s", "TICKER="+testprog(t, "ticker"),
		"TRACER="+hwtest.Build(t, "testdata/tracer", hwtest.BuildOptions{}))
	said, told := tellOn(t, cmd)
	told("watching every Go program of node-7", "start")
	awaitMetrics(t, metrics, "highwater_agent_watched 1")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said())
	}
	out, err := os.ReadFile(filepath.Join(dir, "tracer.out"))
	if err != nil || !strings.Contains(string(out), "traced it to its end: code 0") || !strings.Contains(string(out), "ended, longest gap") {
		t.Errorf("%v: %s", err, out)
	}
	if rows := processesOf(t, "file://"+filepath.Join(dir, "store"), "test", "debugged"); rows != 1 {
		t.Errorf("the store has %d processes of the service, not 1", rows)
	}
}

// processesOf is how many processes of a service a store has.
func processesOf(t *testing.T, address, tenant, service string) int {
	t.Helper()
	s, err := fleet.Open(address, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := fleet.Services(t.Context(), s, fleet.Scope{Tenant: tenant, Since: time.Now().Add(-time.Hour), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.Service == service {
			return int(one.Processes)
		}
	}
	return 0
}

// incidentsOf fills a store with these incidents.
func incidentsOf(t *testing.T, all ...fleet.Incident) (address string) {
	t.Helper()
	dir := t.TempDir()
	s, err := fleet.Open("file://"+dir, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err = s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, in := range all {
		in.Tenant, in.Kind, in.Class, in.At, in.Written = "default", fleet.KindKill, "leak", time.Now().Add(-time.Duration(1+i)*time.Minute), time.Now()
		in.Sentence = in.Service + " was OOM-killed."
		if err := s.Put(t.Context(), fleet.Incidents, fleet.Encode(nil, in)); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + dir
}

// The recording of an incident is gone, from its directory or its bucket: each command that takes its ID says
// where it was and what is known all the same, with code 1.
func TestARecordingThatIsGoneLeavesTheRowsAnswer(t *testing.T) {
	t.Parallel()
	bucket := newReceiver(t)
	store := incidentsOf(t, fleet.Incident{Service: "checkout", Node: "node-3", Incident: fleet.ID{0x12, 0x34, 0x56, 0x78},
		Recording: "file:///var/lib/highwater/recordings/gone.hwm", RecordingBytes: 100},
		fleet.Incident{Service: "search", Incident: fleet.ID{0xab, 0xcd, 0xef, 0x01}, Recording: "s3://kills/test/gone.hwm", RecordingBytes: 100},
		fleet.Incident{Service: "feed", Incident: fleet.ID{0xfe, 0xed, 0xfe, 0xed}})
	for id, want := range map[string][]string{
		"12345678": {"has gone from /var/lib/highwater/recordings/gone.hwm", "checkout was OOM-killed.", "node-3"},
		"abcdef01": {"has gone from s3://kills/test/gone.hwm", "search was OOM-killed."},
		"feedfeed": {"has no recording", "feed was OOM-killed."},
	} {
		for _, args := range [][]string{{"explain", id, "--json"}, {"tune", id, "--json"}, {"heap", id, "--json"}, {"open", id, "--json", "--no-browser"},
			{"open", id, "--html", filepath.Join(t.TempDir(), "a.html")}} {
			cmd := exec.Command(highwater(t), args...)
			cmd.Env = append(cmd.Environ(), "HIGHWATER_STORE="+store, "AWS_ENDPOINT_URL_S3="+bucket.URL, "XDG_STATE_HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); err == nil || code != 1 && id != "feedfeed" || code != 4 && id == "feedfeed" {
				t.Errorf("%v: %v", args, err)
			}
			for _, one := range want {
				if !strings.Contains(string(out), one) {
					t.Errorf("%v does not say %q: %s", args, one, out)
				}
			}
		}
	}
}

// Two causes share the digits that answers show: then both are shown whole, and the third is not.
func TestAFingerprintThatIsAmbiguousIsShownWhole(t *testing.T) {
	t.Parallel()
	store := incidentsOf(t, fleet.Incident{Service: "checkout", Fingerprint: "hw-58c1050000000001", Incident: fleet.ID{1}},
		fleet.Incident{Service: "search", Fingerprint: "hw-58c1050000000002", Incident: fleet.ID{2}},
		fleet.Incident{Service: "feed", Fingerprint: "hw-9900000000000003", Incident: fleet.ID{3}})
	out, err := exec.Command(highwater(t), "fleet", "incidents", "--store", store).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"checkout  hw-58c1050000000001  new", "search  hw-58c1050000000002  new", "feed  hw-990000  new"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q:\n%s", want, out)
		}
	}
}
