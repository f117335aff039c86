package thirdparty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/record/recording"
)

// watched is a server without a limit, that serves net/http/pprof on the port
// other.
type watched struct {
	name    string
	build   func(t *testing.T, o hwtest.BuildOptions) string
	config  string // of a file in its directory: verbs are the two ports
	args    func(dir string, port, other int) []string
	metrics string // path on other of its Prometheus metrics, "" for none
	load    func(ctx context.Context, address string) error
	own     []string // what the names of its own functions begin with
	heavy   bool     // it has hundreds of packages that nothing else here needs
}

// servers are built from their public modules, each in two ways.
var servers = []struct {
	watched
	ways map[string]hwtest.BuildOptions
}{
	{fromServer(NATS(), echoes, "", "github.com/nats-io/"), plainAnd("strip", hwtest.BuildOptions{})},
	{fromServer(Etcd(), lists, "/metrics", "go.etcd.io/"), plainAnd("strip", hwtest.BuildOptions{})},
	{watched{
		name: "caddy", build: module("github.com/caddyserver/caddy/v2@v2.11.9", "cmd/caddy"),
		config: `{"admin": {"listen": "127.0.0.1:%[2]d"}, "apps": {"http": {"servers": {"one": {"listen": ["127.0.0.1:%[1]d"], "metrics": {},
			"automatic_https": {"disable": true}, "routes": [{"handle": [{"handler": "static_response", "body": "hello"}]}]}}}}}`,
		args: func(dir string, _, _ int) []string { return []string{"run", "--config", filepath.Join(dir, "config")} },
		load: gets("/"), metrics: "/metrics", own: []string{"github.com/caddyserver/", "github.com/alecthomas/chroma/", "golang.org/x/crypto/x509roots/"},
		heavy: true,
	}, plainAnd("-s -w", hwtest.BuildOptions{Strip: true})},
	{watched{
		name: "opa", build: module("github.com/open-policy-agent/opa@v1.22.2", ""),
		args: func(_ string, port, other int) []string {
			return []string{"run", "--server", "--pprof", "--disable-telemetry", "--log-level", "error",
				fmt.Sprintf("--addr=127.0.0.1:%d", port), fmt.Sprintf("--addr=127.0.0.1:%d", other)}
		},
		load: gets("/v1/data"), metrics: "/metrics", own: []string{"github.com/open-policy-agent/"}, heavy: true,
	}, plainAnd("-s -w", hwtest.BuildOptions{Strip: true})},
	{watched{
		name: "node_exporter", build: module("github.com/prometheus/node_exporter@v1.12.1", ""),
		args: func(_ string, port, other int) []string {
			return []string{fmt.Sprintf("--web.listen-address=127.0.0.1:%d", port), fmt.Sprintf("--web.listen-address=127.0.0.1:%d", other)}
		},
		load: gets("/metrics"), metrics: "/metrics", own: []string{"github.com/prometheus/"}, heavy: true,
	}, map[string]hwtest.BuildOptions{"PIE": {PIE: true}, "PIE -s -w": {PIE: true, Strip: true}}},
}

func plainAnd(name string, o hwtest.BuildOptions) map[string]hwtest.BuildOptions {
	return map[string]hwtest.BuildOptions{"plain": {}, name: o}
}

func module(version, pkg string) func(*testing.T, hwtest.BuildOptions) string {
	return func(t *testing.T, o hwtest.BuildOptions) string { return hwtest.Module(t, version, pkg, o) }
}

// fromServer is a server of All under a load that leaves nothing behind. Modules
// with replace directives are not built by hwtest.Module.
func fromServer(s Server, load func(context.Context, string) error, metrics string, own ...string) watched {
	w := watched{name: s.Name, load: load, metrics: metrics, own: own}
	w.build = func(t *testing.T, _ hwtest.BuildOptions) string {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(cache, "highwater-test", "thirdparty", s.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		program, err := s.Build(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return program
	}
	w.args = func(dir string, port, other int) []string {
		profiling, _ := s.Profiling(port, other)
		return append(s.Args(dir, port), profiling...)
	}
	return w
}

// echoes publishes messages to itself.
func echoes(ctx context.Context, address string) error {
	c, err := dialNATS(ctx, address)
	if err != nil {
		return err
	}
	defer c.Close()
	message := make([]byte, 4<<10)
	for range 500 {
		if err := c.request(natsInbox, message, 10); err != nil {
			return err
		}
	}
	return nil
}

// lists stores some values and lists them one client after the other.
func lists(ctx context.Context, address string) error {
	c := newEtcdClient(address)
	defer c.http.CloseIdleConnections()
	value := make([]byte, 10<<10)
	for i := range 100 {
		if err := c.call(ctx, "Put", field(field(nil, 1, fmt.Appendf(nil, "k%02d", i)), 2, value), 0); err != nil {
			return err
		}
	}
	for range 50 {
		if err := c.list(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// gets asks an HTTP server for a path.
func gets(path string) func(context.Context, string) error {
	return func(_ context.Context, address string) error {
		for range 100 {
			if _, err := get("http://" + address + path); err != nil {
				return err
			}
		}
		return nil
	}
}

func get(url string) ([]byte, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(resp.Body)
}

func TestWellKnownServersAreReadAndHealthy(t *testing.T) {
	if testing.Short() {
		t.Skip("builds servers from public modules")
	}
	hwtest.Need(t, hwtest.Root, hwtest.Ptrace, hwtest.Program("strip"))
	for _, s := range servers {
		for way, o := range s.ways {
			t.Run(s.name+" "+way, func(t *testing.T) {
				if soak(t) > 0 {
					t.Parallel()
				} else if s.heavy {
					hwtest.LeftToMatrix(t, "builds "+s.name+", which has hundreds of packages that nothing else needs")
				}
				program := s.build(t, o)
				if way == "strip" {
					program = stripped(t, program)
				}
				s.check(t, program)
			})
		}
	}
}

// soak is how long the servers work, all at once, under a load that comes every
// few seconds (`make soak`); without it each has it once.
func soak(t *testing.T) time.Duration {
	text := os.Getenv("HIGHWATER_SOAK")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const loadEvery = 5 * time.Second

// stripped is a copy of the program without what binutils' strip removes.
func stripped(t *testing.T, program string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(program))
	if text, err := exec.Command("strip", "-o", out, program).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v\n%s", err, text)
	}
	return out
}

// check runs the server under highwater, compares what is read of it with what it
// says itself, and looks what its recording says in the end.
func (s watched) check(t *testing.T, program string) {
	dir, port, other := t.TempDir(), freePort(t), freePort(t)
	if s.config != "" {
		if err := os.WriteFile(filepath.Join(dir, "config"), fmt.Appendf(nil, s.config, port, other), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "server.hwm")
	// A finer rate than Go's own leaves more to compare.
	run := startRun(t, append([]string{"run", "-q", "--profile-rate", "16384", "-o", file, "--", program}, s.args(dir, port, other)...)...)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute+soak(t))
	defer cancel()
	for _, p := range []int{port, other} {
		if s.name == "etcd" {
			p = port // serves both
		}
		conn, err := dial(ctx, "127.0.0.1:"+strconv.Itoa(p))
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	for end, again := time.Now().Add(soak(t)), time.Tick(loadEvery); ; <-again {
		if err := s.load(ctx, "127.0.0.1:"+strconv.Itoa(port)); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			break
		}
	}
	if s.name == "etcd" {
		other = port
	}
	if soak(t) == 0 {
		s.same(t, run.child(t), other)
	}
	run.end(t)
	s.recorded(t, file)
}

// same compares what is read of the server with what it says itself on a port.
func (s watched) same(t *testing.T, pid, port int) {
	e := look(t, pid)
	e.sameProfile(fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/heap", port))
	if s.metrics != "" {
		e.sameFigures(fmt.Sprintf("http://127.0.0.1:%d%s", port, s.metrics))
	}
}

// recorded wants the server's own lines in the recording, a ledger that closes,
// and a healthy program.
func (s watched) recorded(t *testing.T, file string) {
	t.Helper()
	if err := recording.Verify(file); err != nil {
		t.Error(err)
	}
	out, err := exec.Command(tool(t), "explain", "--no-source", "--json", file).Output()
	var a explain.Answer
	if jsonErr := json.Unmarshal(out, &a); jsonErr != nil {
		t.Fatalf("explain: %v, %v", err, jsonErr)
	}
	// A second does not show that a server is well; nothing may be made of it either.
	if c := a.Verdict.Class; c != explain.Healthy && (soak(t) > 0 || c != explain.Inconclusive) {
		t.Errorf("verdict %s: %s", c, a.Verdict.Sentence)
	}
	sum := a.Ledger.UnexplainedBytes
	for _, row := range a.Ledger.Rows {
		sum += int64(row.Bytes)
	}
	rest := max(a.Ledger.UnexplainedBytes, -a.Ledger.UnexplainedBytes)
	// The kernel charges each CPU 64 pages ahead (mm/memcontrol.c, MEMCG_CHARGE_BATCH).
	ahead := int64(64 * os.Getpagesize() * runtime.NumCPU())
	if total := int64(a.Ledger.TotalBytes); sum != total || rest > total/50+ahead+moved(t, file) {
		t.Errorf("%d of %d bytes are unexplained: %+v", a.Ledger.UnexplainedBytes, total, a.Ledger.Rows)
	}
	own := 0
	for _, h := range append(a.Holders, a.Allocators...) {
		for _, prefix := range append(s.own, "main.") {
			if strings.HasPrefix(h.Function, prefix) {
				own++
			}
		}
	}
	if own == 0 || a.Program.HeapProfile != "on" {
		t.Errorf("no line of its own holds or allocates anything; heap profile %q: %+v", a.Program.HeapProfile, a.Holders)
	}
	t.Logf("%s; %d lines of its own; unexplained %d of %d", a.Verdict.Class, own, a.Ledger.UnexplainedBytes, a.Ledger.TotalBytes)
}

// moved is by how much the charge changed while the moment was read: a server that
// starts allocates megabytes in these milliseconds.
func moved(t *testing.T, file string) int64 {
	t.Helper()
	out, err := exec.Command(tool(t), "export", "--json", file).Output()
	var m struct {
		Before struct {
			Usage int64 `json:"usage_bytes"`
		} `json:"cgroup"`
		After struct {
			Usage int64 `json:"usage_bytes"`
		} `json:"cgroup_after"`
	}
	if err := errors.Join(err, json.Unmarshal(out, &m)); err != nil || m.Before.Usage == 0 || m.After.Usage == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return max(m.After.Usage-m.Before.Usage, m.Before.Usage-m.After.Usage)
}

func tool(t *testing.T) string {
	t.Helper()
	return hwtest.Build(t, "../../../cmd/highwater", hwtest.BuildOptions{})
}

// highwaterRun is a highwater run with a server below it.
type highwaterRun struct {
	cmd  *exec.Cmd
	said strings.Builder
}

func startRun(t *testing.T, args ...string) *highwaterRun {
	t.Helper()
	r := &highwaterRun{cmd: exec.Command(tool(t), args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	if soak(t) == 0 {
		r.cmd.Env = append(os.Environ(), "GOGC=800") // a profile that is fetched is no reason for a collection
	}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // ended already is as good
		_ = r.cmd.Wait()
		if t.Failed() {
			said := r.said.String()
			t.Logf("it said at last:\n%s", said[max(0, len(said)-2000):])
		}
	})
	return r
}

// child is the server's process.
func (r *highwaterRun) child(t *testing.T) int {
	t.Helper()
	children, err := procfs.Children("/proc", r.cmd.Process.Pid)
	if err != nil || len(children) != 1 {
		t.Fatalf("children %v, %v", children, err)
	}
	return children[0]
}

// end asks the server to end, and waits for highwater.
func (r *highwaterRun) end(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait() // its code is the server's
}
