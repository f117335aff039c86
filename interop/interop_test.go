// Package interop_test has what Highwater exports read by the types and servers of those for whom it is
// meant: OpenTelemetry's, Pyroscope's, Parca's, and Perfetto's. It is a module of its own, so that
// Highwater does not depend on them.
package interop_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	"github.com/improbable-eng/grpc-web/go/grpcweb"
	parca "github.com/parca-dev/parca/gen/proto/go/parca/profilestore/v1alpha1"
	otlp "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// made is what all tests read: the program and a recording.
var made struct{ highwater, recording string }

func TestMain(m *testing.M) {
	code := 1
	dir, err := os.MkdirTemp("", "interop-")
	if err == nil {
		err = makeAll(dir)
	}
	if err != nil {
		println(err.Error())
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// makeAll builds Highwater and records a program that holds 24 MiB, for as long as that takes.
func makeAll(dir string) error {
	made.highwater, made.recording = filepath.Join(dir, "highwater"), filepath.Join(dir, "r.hwm")
	holder := filepath.Join(dir, "holder")
	for _, args := range [][]string{{"-C", "..", "build", "-o", made.highwater, "./cmd/highwater"}, {"build", "-o", holder, "./testdata/holder"}} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	cmd := exec.Command(made.highwater, "run", "-q", "-o", made.recording, "--", holder)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// export is what highwater export writes, and what it says.
func export(t *testing.T, args ...string) (out []byte, said string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	cmd := exec.Command(made.highwater, append([]string{"export", made.recording}, args...)...)
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.Bytes(), e.String(), cmd.ProcessState.ExitCode()
}

func must(t *testing.T, args ...string) []byte {
	t.Helper()
	out, said, code := export(t, args...)
	if code != 0 {
		t.Fatalf("export %v: %d: %s", args, code, said)
	}
	return out
}

// pprof is the heap profile that all other forms are compared with.
func pprof(t *testing.T) *profile.Profile {
	t.Helper()
	p, err := profile.ParseData(must(t, "--pprof"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// held are the bytes in use by stack, the innermost first: "main.hold holder.go:20;main.main ...".
func held(p *profile.Profile) map[string]int64 {
	all := map[string]int64{}
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				names = append(names, line.Function.Name)
			}
		}
		if v := s.Value[len(s.Value)-1]; v != 0 {
			all[strings.Join(names, ";")] += v
		}
	}
	return all
}

func TestOpenTelemetrysTypesReadTheProfile(t *testing.T) {
	var data otlp.ProfilesData
	if err := proto.Unmarshal(must(t, "--format", "otlp-v1development"), &data); err != nil {
		t.Fatal(err)
	}
	if unknown := unknownFields(data.ProtoReflect()); len(unknown) > 0 {
		t.Errorf("fields that the schema has not: %v", unknown)
	}
	d := data.Dictionary
	for name, n := range map[string]int{"mapping": proto.Size(d.MappingTable[0]), "location": proto.Size(d.LocationTable[0]),
		"function": proto.Size(d.FunctionTable[0]), "link": proto.Size(d.LinkTable[0]),
		"string": len(d.StringTable[0]), "attribute": proto.Size(d.AttributeTable[0]), "stack": proto.Size(d.StackTable[0])} {
		if n != 0 {
			t.Errorf("the first %s of the dictionary is not empty", name)
		}
	}
	of := data.ResourceProfiles[0]
	if a := of.Resource.Attributes[0]; a.Key != "service.name" || a.Value.GetStringValue() != "holder" {
		t.Errorf("resource %v", of.Resource)
	}
	want := held(pprof(t))
	got := map[string]int64{}
	for _, p := range of.ScopeProfiles[0].Profiles {
		if d.StringTable[p.SampleType.TypeStrindex] != "inuse_space" || d.StringTable[p.SampleType.UnitStrindex] != "bytes" {
			continue
		}
		if p.TimeUnixNano != uint64(pprof(t).TimeNanos) {
			t.Errorf("time %d", p.TimeUnixNano)
		}
		for _, s := range p.Samples {
			var names []string
			for _, l := range d.StackTable[s.StackIndex].LocationIndices {
				for _, line := range d.LocationTable[l].Lines {
					names = append(names, d.StringTable[d.FunctionTable[line.FunctionIndex].NameStrindex])
				}
			}
			got[strings.Join(names, ";")] += s.Values[0]
		}
	}
	same(t, got, want)
}

func same(t *testing.T, got, want map[string]int64) {
	t.Helper()
	var all int64
	for stack, v := range want {
		if all += v; got[stack] != v {
			t.Errorf("%s: %d bytes, want %d", stack, got[stack], v)
		}
	}
	if len(got) != len(want) || all < 20<<20 {
		t.Errorf("%d stacks, want %d, with %d bytes", len(got), len(want), all)
	}
}

// unknownFields are the numbers of fields that the types do not have, with their message.
func unknownFields(m protoreflect.Message) (list []string) {
	for b := m.GetUnknown(); len(b) > 0; {
		n, _, size := protowire.ConsumeField(b)
		list, b = append(list, string(m.Descriptor().Name())+"."+string(rune('0'+n))), b[size:]
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				list = append(list, unknownFields(v.List().Get(i).Message())...)
			}
		case f.Message() != nil && !f.IsMap():
			list = append(list, unknownFields(v.Message())...)
		}
		return true
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// pyroscope is the API that a Pyroscope serves, by its own types.
type pyroscope struct{ got *pushv1.PushRequest }

func (p *pyroscope) Push(_ context.Context, r *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	if r.Header().Get("Authorization") == "Bearer wrong" {
		return nil, connect.NewError(connect.CodeUnauthenticated, nil)
	}
	p.got = r.Msg
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

func TestPyroscopesAPITakesTheProfile(t *testing.T) {
	p := &pyroscope{}
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(p))
	server := httptest.NewServer(mux)
	defer server.Close()
	if _, said, code := export(t, "--push", "pyroscope+"+server.URL); code != 0 || !strings.Contains(said, `as service_name "holder"`) {
		t.Fatalf("%d: %s", code, said)
	}
	if len(p.got.GetSeries()) != 1 {
		t.Fatalf("got %v", p.got)
	}
	labels := map[string]string{}
	for _, l := range p.got.Series[0].Labels {
		labels[l.Name] = l.Value
	}
	if labels["__name__"] != "memory" || labels["service_name"] != "holder" {
		t.Errorf("labels %v", labels)
	}
	got, err := profile.ParseData(p.got.Series[0].Samples[0].RawProfile)
	if err != nil {
		t.Fatal(err)
	}
	same(t, held(got), held(pprof(t)))
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("wrong\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, code := export(t, "--push", "pyroscope+"+server.URL, "--push-token", token); code != 1 || !strings.Contains(said, "401") {
		t.Errorf("with a wrong token: %d: %s", code, said)
	}
}

// parcaStore is the service of a Parca, behind the wrapper that its server has for browsers.
type parcaStore struct {
	parca.UnimplementedProfileStoreServiceServer
	got *parca.WriteRawRequest
}

func (p *parcaStore) WriteRaw(_ context.Context, r *parca.WriteRawRequest) (*parca.WriteRawResponse, error) {
	p.got = r
	return &parca.WriteRawResponse{}, nil
}

func TestParcasAPITakesTheProfile(t *testing.T) {
	p := &parcaStore{}
	service := grpc.NewServer()
	parca.RegisterProfileStoreServiceServer(service, p)
	server := httptest.NewServer(grpcweb.WrapServer(service, grpcweb.WithAllowNonRootResource(true)))
	defer server.Close()
	must(t, "--push", "parca+"+server.URL)
	if len(p.got.GetSeries()) != 1 || !p.got.Normalized {
		t.Fatalf("got %v", p.got)
	}
	if l := p.got.Series[0].Labels.Labels; len(l) != 2 || l[0].Name != "__name__" || l[0].Value != "memory" || l[1].Value != "holder" {
		t.Errorf("labels %v", l)
	}
	got, err := profile.ParseData(p.got.Series[0].Samples[0].RawProfile)
	if err != nil {
		t.Fatal(err)
	}
	same(t, held(got), held(pprof(t)))
	service.Stop()
	empty := httptest.NewServer(grpcweb.WrapServer(grpc.NewServer()))
	defer empty.Close()
	if _, said, code := export(t, "--push", "parca+"+empty.URL); code != 1 || !strings.Contains(said, "status 12 of gRPC") {
		t.Errorf("a server without the service: %d: %s", code, said)
	}
}

func TestWhatIsNoStoreIsToldSo(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>welcome</html>")) }))
	defer page.Close()
	away := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect))
	defer away.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for to, want := range map[string]string{"pyroscope+" + page.URL: "is not a store of profiles", "parca+" + page.URL: "is not a store of profiles",
		"parca+" + away.URL: "307", "parca+http://" + gone.Addr().String(): "refused"} {
		if _, said, code := export(t, "--push", to); code != 1 || !strings.Contains(said, want) {
			t.Errorf("%s: %d, want %q: %s", to, code, want, said)
		}
	}
	for _, to := range []string{"http://127.0.0.1", "tempo+http://127.0.0.1", "parca+http://u:p@127.0.0.1", "pyroscope+http://192.0.2.1:4040",
		"parca+ftp://127.0.0.1"} {
		if _, said, code := export(t, "--push", to); code != 2 {
			t.Errorf("%s: %d: %s", to, code, said)
		}
	}
}

// Perfetto's own types are Python's: make interop has them, in bin/interop.
func TestPerfettosTypesReadTheTrace(t *testing.T) {
	python := os.Getenv("HIGHWATER_PERFETTO_PYTHON")
	if python == "" {
		t.Skip("SKIP-REASON: needs Python's package perfetto: make interop installs and uses it")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	must(t, "--perfetto", "-o", trace)
	out, err := exec.Command(python, "testdata/trace.py", trace).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	csv := strings.Count(string(must(t, "--csv")), "\n") - 1
	for _, want := range []string{"process holder", "counter holder/RSS SIZE_BYTES", "counter memory/memory usage SIZE_BYTES", "counter holder/goroutines COUNT",
		"slice GC", "instant exit", "unknown 0", "unbalanced 0"} {
		if want == "counter memory/memory usage SIZE_BYTES" && os.Geteuid() != 0 {
			continue // there is no cgroup
		}
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q, of %d samples, in:\n%s", want, csv, out)
		}
	}
}
