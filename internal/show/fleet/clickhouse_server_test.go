package fleet

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// startClickHouse runs a server of Debian's ClickHouse until the test ends, in a directory
// of its own, on a port of loopback.
func startClickHouse(t *testing.T) Store {
	t.Helper()
	one := newServer(t, freePorts(t, 3), "")
	one.start(t)
	return openAt(t, one, Options{Plain: true})
}

// startChDB runs ClickHouse's current engine in a process of Python that speaks its HTTP interface.
func startChDB(t *testing.T) Store {
	t.Helper()
	hwtest.LeftToMatrix(t, "runs ClickHouse's engine of 530 MB")
	dir, err := hwtest.ChDB()
	hwtest.Need(t, func() error { return err })
	hwtest.Need(t, hwtest.Program("python3"))
	script, err := filepath.Abs("testdata/engine.py")
	if err != nil {
		t.Fatal(err)
	}
	one := &server{dir: t.TempDir(), ports: freePorts(t, 1)}
	cmd := exec.Command("python3", script, fmt.Sprint(one.ports[0]), one.dir)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "TZ=UTC")
	one.run(t, cmd)
	one.answersPing(t)
	return openAt(t, one, Options{})
}

func openAt(t *testing.T, s *server, o Options) Store {
	t.Helper()
	store, err := Open(s.address()+"/highwater", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// server is a server of ClickHouse.
type server struct {
	dir   string
	ports []int // HTTP, native, between servers
	cmd   *exec.Cmd
	ended chan struct{}
}

func (s *server) address() string { return fmt.Sprintf("http://127.0.0.1:%d", s.ports[0]) }

// newServer writes the settings of one; more are elements of its configuration.
func newServer(t *testing.T, ports []int, more string) *server {
	t.Helper()
	s := &server{dir: t.TempDir(), ports: ports}
	config := fmt.Sprintf(`<yandex>
<logger><level>warning</level><console>1</console></logger>
<http_port>%d</http_port><tcp_port>%d</tcp_port><interserver_http_port>%d</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>
<listen_host>127.0.0.1</listen_host><mark_cache_size>16777216</mark_cache_size><uncompressed_cache_size>1048576</uncompressed_cache_size>
<path>%s/data/</path><tmp_path>%[4]s/tmp/</tmp_path><users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<timezone>UTC</timezone>%s</yandex>`, ports[0], ports[1], ports[2], s.dir, more)
	users := `<yandex><profiles><default><max_threads>2</max_threads></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
<quotas><default></default></quotas></yandex>`
	for name, text := range map[string]string{"config.xml": config, "users.xml": users} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// start starts it, again too, and waits until it answers.
func (s *server) start(t *testing.T) {
	t.Helper()
	program, libraries, err := hwtest.ClickHouse()
	hwtest.Need(t, func() error { return err })
	cmd := exec.Command(program, "--config-file="+filepath.Join(s.dir, "config.xml"))
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraries, "TZ=UTC")
	s.run(t, cmd)
	s.answersPing(t)
}

func (s *server) answersPing(t *testing.T) {
	t.Helper()
	s.answers(t, func() error {
		answer, err := (&http.Client{Timeout: 5 * time.Second}).Get(s.address() + "/ping")
		if err == nil {
			answer.Body.Close()
		}
		return err
	})
}

// run runs a program in the server's directory until the test ends.
func (s *server) run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	s.cmd, s.ended = cmd, ended
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(s.kill)
}

// kill ends it, as a machine that loses its power does.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// answers waits until asked says that it is ready: it tells nobody by itself.
func (s *server) answers(t *testing.T, asked func() error) {
	t.Helper()
	for begun := time.Now(); ; {
		err := asked()
		if err == nil {
			return
		}
		select {
		case <-s.ended:
		default:
			if time.Since(begun) < time.Minute {
				time.Sleep(20 * time.Millisecond)
				continue
			}
		}
		text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		t.Fatalf("it did not start: %v\n%s", err, strings.TrimSpace(string(text)))
	}
}

// freePorts are ports of loopback that nobody had a moment ago.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
