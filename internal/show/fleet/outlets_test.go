package fleet

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/words/sample"
)

var ofKill = Incident{Tenant: "prod", Service: "shop", Version: "v1", Node: "node-7", Namespace: "shop", Pod: "shop-0", Container: "web",
	Image: "registry.example/shop:1.0", At: monday, Incident: hashOf("kill"), Kind: KindKill, Class: "leak",
	Sentence: "shop was OOM-killed.", Cause: strings.Repeat("ü", 2000), Function: "main.put", File: "put.go", Line: 7, Limit: sample.Some(uint64(64 << 20))}

var inPod = Identity{Service: "shop", Namespace: "shop", Pod: "shop-0", Container: "web", PodUID: "uid-1", ContainerID: "c1"}

// sent is what a server was sent, and answers as it is told.
type sent struct {
	path, auth string
	body       map[string]any
	text       string
	status     int
	answer     string
	grpcWeb    bool // it answers in that form
}

func (s *sent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	s.path, s.auth, s.body = r.URL.Path, r.Header.Get("Authorization"), nil
	_, s.text = json.Unmarshal(b, &s.body), string(b)
	if s.grpcWeb {
		w.Header().Set("Content-Type", ParcaType)
	}
	w.WriteHeader(s.status)
	_, _ = io.WriteString(w, s.answer)
}

func TestAnIncidentIsAnEventOnItsPod(t *testing.T) {
	t.Parallel()
	s := &sent{status: 201}
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	account := t.TempDir()
	for name, text := range map[string][]byte{"token": []byte("of-the-account\n"),
		"ca.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})} {
		if err := os.WriteFile(filepath.Join(account, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := podEvents(server.URL, account)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Tell(t.Context(), ofKill, inPod, nil); err != nil {
		t.Fatal(err)
	}
	object, _ := s.body["involvedObject"].(map[string]any)
	message, _ := s.body["message"].(string)
	if s.path != "/api/v1/namespaces/shop/events" || s.auth != "Bearer of-the-account" || object["uid"] != "uid-1" ||
		object["fieldPath"] != "spec.containers{web}" || s.body["reason"] != EventReason ||
		len(message) > mostMessage || !strings.HasPrefix(message, ofKill.Sentence) ||
		!strings.HasSuffix(message, " Image registry.example/shop:1.0. (highwater explain "+ofKill.Incident.String()[:12]+")") {
		t.Errorf("%s %q %+v", s.path, s.auth, s.body)
	}
	s.status = 409
	if err := p.Tell(t.Context(), ofKill, inPod, nil); err != nil {
		t.Errorf("it is there already: %v", err)
	}
	s.status, s.answer = 403, "forbidden"
	if err := p.Tell(t.Context(), ofKill, inPod, nil); err == nil || strings.Contains(err.Error(), "of-the-account") {
		t.Error(err)
	}
	s.path = ""
	if err := p.Tell(t.Context(), ofKill, Identity{Service: "shop"}, nil); err != nil || s.path != "" {
		t.Errorf("an incident of no pod: %v, %s", err, s.path)
	}
}

func TestAnIncidentIsALogRecordAndItsProfileASeriesOfItsOwn(t *testing.T) {
	t.Parallel()
	s := &sent{status: 200, answer: "{}"}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	o, err := NewOTLPLogs(server.URL, "v1", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Tell(t.Context(), ofKill, inPod, nil); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(s.body)
	for _, want := range []string{`"service.name"`, `"k8s.pod.name"`, `"shop-0"`, `"container.image.name"`, `"registry.example/shop:1.0"`, `"code.function.name"`,
		`"intValue":"67108864"`, `"stringValue":"shop was OOM-killed."`, `"timeUnixNano":"1763251200000000000"`} {
		if want = strings.ReplaceAll(want, "1763251200000000000", itoa(monday.UnixNano())); !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	for kind, path := range map[string]string{"pyroscope": "/push.v1.PusherService/Push", "parca": ParcaWriteRaw} {
		p, err := NewProfiles(kind+"+"+server.URL, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.grpcWeb = kind == "parca"; s.grpcWeb {
			s.answer = "\x80\x00\x00\x00\x10grpc-status: 0\r\n"
		}
		series := map[string]bool{}
		for _, id := range []ID{{1}, {2}} {
			in := ofKill
			in.Incident = id
			if err := p.Tell(t.Context(), in, inPod, []byte("profile")); err != nil || s.path != path {
				t.Fatalf("%v, %s", err, s.path)
			}
			one := s.text // of Parca, labels and profile
			if !s.grpcWeb {
				labels, _ := json.Marshal(s.body["series"].([]any)[0].(map[string]any)["labels"])
				one = string(labels)
			}
			series[one] = true
		}
		if len(series) != 2 {
			t.Errorf("%s: two instants are one series, which would be added up: %v", kind, series)
		}
		s.path = ""
		if err := p.Tell(t.Context(), ofKill, inPod, nil); err != nil || s.path != "" {
			t.Errorf("without a profile: %v, %s", err, s.path)
		}
		s.answer = "<!doctype html>"
		if err := p.Tell(t.Context(), ofKill, inPod, []byte("profile")); err == nil {
			t.Errorf("%s: a page is taken for an answer", kind)
		}
		s.answer, s.grpcWeb = "{}", false
	}
	s.status = 400
	if err := o.Tell(t.Context(), ofKill, inPod, nil); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	for _, wrong := range []string{"http://192.0.2.1:4318", "collector:4318", "https://user:secret@h"} {
		if _, err := NewOTLPLogs(wrong, "", Options{}); err == nil || strings.Contains(err.Error(), "secret") && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := NewProfiles(server.URL, Options{}); err == nil {
		t.Error("a server of no kind is taken")
	}
}

func itoa(n int64) string { b, _ := json.Marshal(n); return string(b) }
