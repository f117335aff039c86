package thirdparty

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/words/sample"
)

const (
	ofEachKind = 20 // servers
	days       = 7  // of the simulated week: an agent's run is a day
	dayLasts   = 8 * time.Second
	hoursADay  = 4 // rows of a simulated day
	eaters     = 10
)

// node is a machine: servers start, then an agent runs for each day. The leak grows while that watches all, and
// stands in between, so that a day of a busy machine has the length of any other. The last agent runs while programs that
// grow to their limit are started.
const node = `
agent() { "$HW" agent --heap-profile on --tenant test --node node-7 --metrics "$METRICS" "$@" 2>>"$DIR/agents" & agent=$!; }
. "$DIR/servers"
ledger=$!
read started
for day in $(seq "$DAYS"); do
	kill -STOP $ledger
	echo "day $day"
	agent --store "file://$DIR/day-$day" --spool "$DIR/spool-$day" --recordings "$DIR/rec"
	read watched
	kill -CONT $ledger
	sleep "$LASTS"
	kill -STOP $ledger
	kill -TERM $agent
	wait $agent
done
kill -CONT $ledger
agent --store "file://$DIR/week" --spool "$DIR/spool" --recordings s3://kills/of-a-test --bucket-endpoint "$URL"
read watched
. "$DIR/eaters"
read over
kill -TERM $agent
wait $agent
`

// A node of a hundred servers that nobody here wrote, five kinds, each under its own limit, at work: one of a hundred
// and one programs leaks 1 MiB an hour. A week of it is simulated: 8 seconds in which an agent watches all are a day, in
// which that program takes 24 MiB. After it the line is the first of fleet top. Then ten programs grow into their
// limits: ten incidents, each with its line, its recording in the bucket.
func TestANodeOfAHundredServersShowsItsLeak(t *testing.T) {
	hwtest.Need(t, hwtest.Root, hwtest.Cgroup, hwtest.Ptrace, hwtest.Program("unshare"))
	hwtest.LeftToMatrix(t, "runs a hundred servers for two minutes")
	n := newNode(t)
	n.say("started")
	for d := range days {
		n.line("day ")
		n.work(d)
		n.await(func() bool { return n.metric(watched101) })
		n.say("watched")
	}
	n.await(func() bool { return n.metric(watched101) })
	n.week()
	n.leakIsFirst()
	n.say("watched")
	n.await(func() bool { return n.kept.Load() == eaters })
	n.tenIncidents()
	n.say("over")
	if err := n.cmd.Wait(); err != nil {
		agents, _ := os.ReadFile(filepath.Join(n.dir, "agents"))
		t.Errorf("%v\n%s", err, agents)
	}
}

// watched101 says that an agent watches the servers and the leak.
const watched101 = "highwater_agent_watched 101"

// ofNode is that machine, from outside.
type ofNode struct {
	*testing.T
	dir, metrics string
	leak         string
	tool         string
	cmd          *exec.Cmd
	in           io.Writer
	out          *bufio.Reader
	loads        []func() error
	kept         atomic.Int32 // recordings in the bucket
}

func newNode(t *testing.T) *ofNode {
	t.Helper()
	n := &ofNode{T: t, dir: t.TempDir(), tool: tool(t), leak: hwtest.Build(t, "../testprog/leak", hwtest.BuildOptions{})}
	bucket := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if size, err := io.Copy(io.Discard, r.Body); err == nil && size > 0 && r.Method == http.MethodPut {
			n.kept.Add(1)
		}
	}))
	t.Cleanup(bucket.Close)
	ports := freePorts(t, 1+2*ofEachKind*len(servers))
	n.metrics = fmt.Sprintf("127.0.0.1:%d", ports[0])
	n.write("servers", n.servers(ports[1:])+
		n.start(512*sample.MiB, "ledger", n.dir, n.leak, "-rate", fmt.Sprint(24<<20/int(dayLasts.Seconds())), "-max", "400MiB", "-for", "30m"))
	var grow strings.Builder
	for i := range eaters {
		grow.WriteString(n.start(48*sample.MiB, fmt.Sprintf("eater-%d", i), n.dir, n.leak, "-rate", "4MiB"))
	}
	n.write("eaters", grow.String())
	n.cmd = exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", node)
	n.cmd.Env = append(n.cmd.Environ(), "HW="+n.tool, "DIR="+n.dir, "URL="+bucket.URL, "METRICS="+n.metrics,
		fmt.Sprint("DAYS=", days), fmt.Sprint("LASTS=", dayLasts.Seconds()))
	var err error
	if n.in, err = n.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	n.out = bufio.NewReader(out)
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.cmd.Process.Kill() })
	return n
}

// servers is a script that starts all.
func (n *ofNode) servers(ports []int) string {
	var script strings.Builder
	for _, s := range servers {
		program := s.build(n.T, hwtest.BuildOptions{})
		for i := range ofEachKind {
			port, other := ports[0], ports[1]
			ports = ports[2:]
			dir := filepath.Join(n.dir, fmt.Sprint(s.name, "-", i))
			if err := os.Mkdir(dir, 0o700); err != nil {
				n.Fatal(err)
			}
			if s.config != "" {
				n.write(filepath.Join(filepath.Base(dir), "config"), fmt.Sprintf(s.config, port, other))
			}
			script.WriteString(n.start(256*sample.MiB, s.name, dir, append([]string{program}, s.args(dir, port, other)...)...))
			n.loads = append(n.loads, func() error { return s.load(n.Context(), fmt.Sprintf("127.0.0.1:%d", port)) })
		}
	}
	return script.String()
}

// start is a script that starts a program in a cgroup of its own.
func (n *ofNode) start(limit sample.Bytes, service, dir string, command ...string) string {
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = "'" + word + "'"
	}
	return fmt.Sprintf("(echo 0 > '%s/cgroup.procs'; cd '%s'; HOME='%[2]s' XDG_DATA_HOME='%[2]s' XDG_CONFIG_HOME='%[2]s' OTEL_SERVICE_NAME=%s exec %s) >>\"$DIR/servers.log\" 2>&1 &\n",
		hwtest.Limit(n.T, limit).Dir, dir, service, strings.Join(quoted, " "))
}

func (n *ofNode) write(name, text string) {
	if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o600); err != nil {
		n.Fatal(err)
	}
}

func (n *ofNode) say(text string) {
	if _, err := io.WriteString(n.in, text+"\n"); err != nil {
		n.Fatal(err)
	}
}

// line waits for a line of the script that begins so.
func (n *ofNode) line(begins string) {
	text, err := n.out.ReadString('\n')
	if err != nil || !strings.HasPrefix(text, begins) {
		n.Fatalf("%q, %v, and no %q", text, err, begins)
	}
}

// await waits until something is so. Nothing tells of it.
func (n *ofNode) await(is func() bool) {
	n.Helper()
	for begun := time.Now(); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > 4*time.Minute {
			agents, _ := os.ReadFile(filepath.Join(n.dir, "agents"))
			servers, _ := os.ReadFile(filepath.Join(n.dir, "servers.log"))
			n.Fatalf("it takes too long\n%s\n%s", agents[max(0, len(agents)-3000):], servers[max(0, len(servers)-3000):])
		}
	}
}

// work gives one server of each kind its load, each day another. One that starts is given its time.
func (n *ofNode) work(day int) {
	for kind, s := range servers {
		var err error
		defer func() { n.Logf("day %d: the load of %s: %v", day+1, s.name, err) }()
		n.await(func() bool { err = n.loads[kind*ofEachKind+day](); return err == nil })
	}
}

func (n *ofNode) metric(line string) bool {
	answer, err := http.Get("http://" + n.metrics + "/metrics")
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return strings.Contains(string(text), "\n"+line+"\n")
}

// week puts the rows of each run of an agent at the hours of a day of the week before now, and the names that
// they have.
func (n *ofNode) week() {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(n.dir, "week", "fleet.db")+"?_pragma=busy_timeout(60000)")
	if err != nil {
		n.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	monday := time.Now().UTC().Truncate(time.Hour).Add(-days * 24 * time.Hour)
	do := func(text string, args ...any) {
		if _, err := db.ExecContext(n.Context(), text, args...); err != nil {
			n.Fatalf("%s: %v", text, err)
		}
	}
	for d := range days {
		do("ATTACH ? AS day", filepath.Join(n.dir, fmt.Sprint("day-", d+1), "fleet.db"))
		do("INSERT OR REPLACE INTO main.stack SELECT * FROM day.stack")
		do("INSERT OR REPLACE INTO main.process SELECT * FROM day.process")
		for h := range hoursADay {
			hour := monday.Add(time.Duration(d*24+h*24/hoursADay) * time.Hour).Unix()
			do(`INSERT OR REPLACE INTO main.heap_hour (tenant, service, stack, process, hour, version, inuse_seconds, seconds, inuse_max, inuse_last, written)
				SELECT tenant, service, stack, process, ?, version, sum(inuse_seconds), sum(seconds), max(inuse_max), max(inuse_last), max(written) FROM day.heap_hour GROUP BY tenant, service, stack, process`, hour)
		}
		do("DETACH day")
	}
}

// ask is what a question answers.
func (n *ofNode) ask(into any, args ...string) {
	cmd := exec.Command(n.tool, append(args, "--json", "--store", "file://"+filepath.Join(n.dir, "week"), "--tenant", "test")...)
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		n.Fatalf("%v: %v: %.2000s", args, err, out)
	}
}

// leakIsFirst asks which line grew most.
func (n *ofNode) leakIsFirst() {
	var top struct {
		Services, Processes uint64
		Lines               []struct {
			Service, Function, File string
			Line                    int
		}
	}
	n.ask(&top, "fleet", "top", "--since", "8d")
	if len(top.Lines) == 0 || top.Lines[0].Service != "ledger" || !strings.HasSuffix(top.Lines[0].File, "leak/main.go") || top.Lines[0].Line != leaks(n.T) {
		n.Errorf("%+v", top.Lines)
	}
	if top.Services != 6 || top.Processes < 101 {
		n.Errorf("%d services, %d processes", top.Services, top.Processes)
	}
	n.Logf("%d services, %d processes: %+v", top.Services, top.Processes, top.Lines)
}

// leaks is the line that leaks.
func leaks(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("../testprog/leak/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, "// truth: leak") {
			return i + 1
		}
	}
	t.Fatal("no line leaks")
	return 0
}

// tenIncidents asks what was killed.
func (n *ofNode) tenIncidents() {
	var got struct {
		Causes []struct {
			Service, Where, Class, Sentence, Cause string
			Kills                                  int
		}
	}
	n.await(func() bool { n.ask(&got, "fleet", "incidents", "--since", "1h"); return len(got.Causes) >= eaters })
	right := 0
	for _, c := range got.Causes {
		if strings.HasPrefix(c.Service, "eater-") && c.Kills == 1 && c.Where == fmt.Sprint("leak/main.go:", leaks(n.T)) {
			right++
		} else {
			n.Errorf("%+v", c)
		}
	}
	n.Logf("%d of %d kills are incidents with the right line, and %d recordings are in the bucket", right, eaters, n.kept.Load())
}

// freePorts are ports of loopback that nobody had a moment ago, all different, and none of those that the kernel
// gives to whoever connects (ip_local_port_range begins at 32768).
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for port := 10_000 + os.Getpid()%10_000; len(ports) < n; port++ {
		if port >= 32_768 {
			t.Fatalf("only %d ports are free", len(ports))
		}
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			continue
		}
		l.Close()
		ports = append(ports, port)
	}
	return ports
}
