package interop_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	query "github.com/parca-dev/parca/gen/proto/go/parca/query/v1alpha1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// started starts a server on a free port of this machine, in a directory of its own, until the test ends. args
// gets the address.
func started(t *testing.T, program string, files map[string]string, args func(address string) []string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	cmd := exec.Command(program, args(address)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("... %s", said.Bytes()[max(0, said.Len()-3000):])
		}
	})
	return address
}

// eventually tries for a minute.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		if err = try(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// A real server, built from its module as it is released: fetch-parca.sh says how.
func TestARealParcaGivesTheProfileBack(t *testing.T) {
	program := os.Getenv("HIGHWATER_PARCA")
	if program == "" {
		t.Skip("SKIP-REASON: needs Parca: make interop builds and uses it")
	}
	conf := map[string]string{"parca.yaml": "object_storage: {bucket: {type: FILESYSTEM, config: {directory: ./data}}}\n"}
	address := started(t, program, conf, func(address string) []string {
		return []string{"--http-address=" + address, "--config-path=parca.yaml", "--debuginfod-upstream-servers="}
	})
	eventually(t, func() error {
		if _, said, code := export(t, "--push", "parca+http://"+address); code != 0 {
			return fmt.Errorf("push: %d: %s", code, said)
		}
		return nil
	})
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	at := timestamppb.New(time.Unix(0, pprof(t).TimeNanos))
	ask := &query.QueryRequest{
		Mode:       query.QueryRequest_MODE_SINGLE_UNSPECIFIED,
		ReportType: query.QueryRequest_REPORT_TYPE_PPROF,
		Options:    &query.QueryRequest_Single{Single: &query.SingleProfile{Time: at, Query: `memory:inuse_space:bytes:space:bytes{service_name="holder"}`}},
	}
	var got *profile.Profile
	eventually(t, func() error {
		answer, err := query.NewQueryServiceClient(conn).Query(t.Context(), ask)
		if err != nil {
			return err
		}
		got, err = profile.ParseData(answer.GetPprof())
		return err
	})
	same(t, held(got), held(pprof(t)))
}
