package interop_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
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

// Real servers, built from their modules as they are released: fetch-parca.sh and fetch-pyroscope.sh say how.
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

func TestARealPyroscopeGivesTheProfileBack(t *testing.T) {
	program := os.Getenv("HIGHWATER_PYROSCOPE")
	if program == "" {
		t.Skip("SKIP-REASON: needs Pyroscope: make interop builds and uses it")
	}
	address := started(t, program, nil, pyroscopeArgs(t))
	eventually(t, func() error {
		if _, said, code := export(t, "--push", "pyroscope+http://"+address); code != 0 {
			return fmt.Errorf("push: %d: %s", code, said)
		}
		return nil
	})
	at := time.Unix(0, pprof(t).TimeNanos)
	ask := &querierv1.SelectMergeProfileRequest{
		ProfileTypeID: "memory:inuse_space:bytes:space:bytes", LabelSelector: `{service_name="holder"}`,
		Start: at.Add(-time.Minute).UnixMilli(), End: at.Add(time.Minute).UnixMilli(),
	}
	var got *profile.Profile
	eventually(t, func() error {
		answer, err := querierv1connect.NewQuerierServiceClient(http.DefaultClient, "http://"+address).SelectMergeProfile(t.Context(), connect.NewRequest(ask))
		if err != nil {
			return err
		}
		b, err := answer.Msg.MarshalVT()
		if err != nil {
			return err
		}
		if got, err = profile.ParseData(b); err == nil && len(got.Sample) == 0 {
			return errors.New("no sample of it has arrived")
		}
		return err
	})
	same(t, held(got), held(pprof(t)))
}

// pyroscopeArgs have all parts of it in one process, on loopback alone, which it would not choose by itself.
func pyroscopeArgs(t *testing.T) func(address string) []string {
	return func(address string) []string {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{
			"-target=all", "-server.http-listen-port=" + port, "-server.grpc-listen-port=" + freePort(t), "-memberlist.bind-port=" + freePort(t),
			"-ingester.min-ready-duration=0s", "-pyroscopedb.data-path=data", "-self-profiling.disable-push=true", "-usage-stats.enabled=false",
		}
		for _, part := range []string{"server.http-listen-address", "server.grpc-listen-address", "memberlist.bind-addr", "memberlist.advertise-addr",
			"compactor.ring.instance-addr",
			"distributor.ring.instance-addr", "overrides-exporter.ring.instance-addr", "query-frontend.instance-addr", "query-scheduler.ring.instance-addr",
			"store-gateway.sharding-ring.instance-addr", "ingester.lifecycler.addr"} {
			args = append(args, "-"+part+"="+host)
		}
		return args
	}
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
