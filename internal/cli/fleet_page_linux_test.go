package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/record/recording"
	"github.com/highwater-go/highwater/internal/show/fleet"
)

// fleetOf fills a store: checkout grows since v2 and was killed, with a recording; quiet does
// not grow and keeps no heap profile.
func fleetOf(t *testing.T) (address string) {
	t.Helper()
	dir := t.TempDir()
	s, err := fleet.Open("file://"+dir, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, err := recording.Create(filepath.Join(dir, "kill.hwm"), recording.Meta{At: time.Now(), Command: []string{"/srv/checkout"}})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Now().UTC().Truncate(time.Hour).Add(-48 * time.Hour)
	stack, process := fleet.ID{7}, fleet.ID{8}
	var rows []fleet.HeapHour
	for h := range 48 {
		at, version := hour.Add(time.Duration(h)*time.Hour), fmt.Sprintf("v%d", 1+h/24)
		held := uint64(10<<20 + h<<20)
		for _, id := range []fleet.ID{fleet.AllStacks, stack} {
			rows = append(rows, fleet.HeapHour{Tenant: "default", Service: "checkout", Stack: id, Process: process, Hour: at, Version: version,
				InUseSeconds: held * 3600, Seconds: 3600, InUseMax: held, InUseLast: held, Written: at})
		}
	}
	written := time.Now()
	for _, one := range []struct {
		t *fleet.Table
		b []byte
	}{
		{fleet.HeapHours, fleet.Encode(nil, rows...)},
		{fleet.Stacks, fleet.Encode(nil, fleet.Stack{Tenant: "default", Stack: stack, Function: "shop/orders.(*cache).put", File: "/src/orders/cache.go", Line: 88,
			Written: written})},
		{fleet.Processes, fleet.Encode(nil, fleet.Process{Tenant: "default", Service: "checkout", Process: process, Version: "v2", Started: hour, HeapProfile: "on",
			Written: written},
			fleet.Process{Tenant: "default", Service: "a <b>quiet</b> service", Process: fleet.ID{9}, Started: hour, HeapProfile: "off", Written: written})},
		{fleet.Incidents, fleet.Encode(nil, fleet.Incident{Tenant: "default", Service: "checkout", At: time.Now().Add(-time.Hour),
			Incident: fleet.ID{0xab, 0xcd, 0xef, 1, 2, 3}, Kind: fleet.KindKill, Version: "v2", Fingerprint: "hw-0123456789abcdef", Class: "leak",
			Sentence: "checkout was OOM-killed.", Cause: "Orders are kept.", File: "orders/cache.go", Line: 88, Ledger: `{"live Go heap": 1048576, "garbage": 2097152}`,
			Recording: "file://" + filepath.Join(dir, "kill.hwm"), Written: written})},
	} {
		if err := s.Put(t.Context(), one.t, one.b); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + dir
}

// The page's data and its words without script: of the fleet, of a service, of an incident.
func TestThePageOfAFleetLeadsToAServiceAndToAnIncident(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	cmd := exec.Command(highwater(t), "open", "--no-browser", "--fleet", "--store", fleetOf(t))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	root, ok := strings.CutSuffix(strings.TrimSpace(address), "fleet")
	if !ok {
		t.Fatalf("the page is at %s", address)
	}
	for path, want := range map[string][]string{
		"fleet":                       {`data-kind="fleet"`, "checkout was OOM-killed."},
		"fleet?service=checkout":      {"orders/cache.go:88", "Orders are kept."},
		"fleet?since=never":           {"is not a length of time"},
		"api/fleet":                   {`"a \u003cb\u003equiet\u003c/b\u003e service"`, `"kills":1`, `"place":"orders/cache.go:88`, `"without_profile":1`},
		"api/fleet?service=checkout":  {`"version":"v1"`, `"version":"v2"`, `"name":"garbage","bytes":2097152`, `"newest_incident":"abcdef010203`, `"recorded":true`},
		"api/fleet?service=none":      {`"course":[]`, `"causes":[]`, `"fit":null`},
		"r/abcdef010203/":             {"kill.hwm"},
		"r/00000000/":                 {"no incident"},
		"r/" + strings.Repeat("z", 9): {"no recording"},
	} {
		answer, err := http.Get(root + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		plain := strings.ReplaceAll(strings.ReplaceAll(string(text), `": `, `":`), `", "`, `","`)
		for _, one := range want {
			if err != nil || !strings.Contains(plain, one) {
				t.Errorf("%s: %v: %q is not in %d: %.600s", path, err, one, answer.StatusCode, plain)
			}
		}
	}
}
