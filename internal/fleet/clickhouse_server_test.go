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

	"github.com/highwater-go/highwater/internal/hwtest"
)

// startClickHouse runs a server of Debian's ClickHouse until the test ends, in a directory
// of its own, on a port of loopback.
func startClickHouse(t *testing.T) Store {
	t.Helper()
	program, libraries, err := hwtest.ClickHouse()
	hwtest.Need(t, func() error { return err })
	dir := t.TempDir()
	ports := freePorts(t, 3)
	config := fmt.Sprintf(`<yandex>
<logger><level>warning</level><console>1</console></logger>
<http_port>%d</http_port><tcp_port>%d</tcp_port><interserver_http_port>%d</interserver_http_port>
<listen_host>127.0.0.1</listen_host><mark_cache_size>16777216</mark_cache_size><uncompressed_cache_size>1048576</uncompressed_cache_size>
<path>%s/data/</path><tmp_path>%[4]s/tmp/</tmp_path><users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<timezone>UTC</timezone></yandex>`, ports[0], ports[1], ports[2], dir)
	users := `<yandex><profiles><default><max_threads>2</max_threads></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
<quotas><default></default></quotas></yandex>`
	for name, text := range map[string]string{"config.xml": config, "users.xml": users} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, "--config-file="+filepath.Join(dir, "config.xml"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraries, "TZ=UTC")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	address := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	for begun := time.Now(); ; {
		answer, err := (&http.Client{Timeout: 5 * time.Second}).Get(address + "/ping")
		if err == nil {
			answer.Body.Close()
			break
		}
		select {
		case <-ended:
		default:
			if time.Since(begun) < time.Minute {
				time.Sleep(20 * time.Millisecond) // it opens its port when it is ready, and tells nobody
				continue
			}
		}
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("ClickHouse did not start: %v\n%s", err, strings.TrimSpace(string(text)))
	}
	s, err := Open(address+"/highwater", Options{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
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
