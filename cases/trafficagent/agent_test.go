package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/highwater-go/highwater/cases/internal/need"
	"github.com/highwater-go/highwater/cases/internal/symptom"
	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

func TestTheTruthAgreesWithTheSource(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		if err := truthfile.Relocate("."); err != nil {
			t.Fatal(err)
		}
	}
	if err := truthfile.Check(".", knownFaults...); err != nil {
		t.Error(err)
	}
}

// eachFault runs a test on the repaired agent, and with each fault.
func eachFault(t *testing.T, test func(t *testing.T, fault string)) {
	t.Helper()
	for _, name := range append([]string{"none"}, knownFaults...) {
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

// traffic writes a pcap file of a load.
func traffic(t *testing.T, l load) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "traffic.pcap")
	if err := l.pcap(name); err != nil {
		t.Fatal(err)
	}
	return name
}

// watch runs the agent on a file with a collector, and returns what both say.
func watch(t *testing.T, file, fault string) (printed string, got collected) {
	t.Helper()
	c := newCollector()
	server := httptest.NewServer(c.handler())
	defer server.Close()
	var out strings.Builder
	err := run(t.Context(), []string{"-read", file, "-fault", fault, "-collector", server.Listener.Addr().String()}, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), stats(t, server.URL)
}

func stats(t *testing.T, url string) (got collected) {
	t.Helper()
	r, err := http.Get(url + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

// expected is what a collector must have of a load: exchanges by path.
func expected(l load) map[string]int {
	paths := map[string]int{}
	for n := range l.requests {
		r := l.request("http://x", n)
		paths[r.Method+" "+r.URL.Path]++
	}
	return paths
}

func TestTheTracesMatchTheTraffic(t *testing.T) {
	l := load{requests: 300, clients: 3, exports: 2, exportMB: 1}
	file := traffic(t, l)
	eachFault(t, func(t *testing.T, fault string) {
		printed, got := watch(t, file, fault)
		if got.Exchanges != l.requests || !maps.Equal(got.Paths, expected(l)) {
			t.Errorf("%d exchanges of %v, want %d of %v", got.Exchanges, got.Paths, l.requests, expected(l))
		}
		if !strings.Contains(printed, "300 exchanges") || !strings.Contains(printed, "0 streams with a gap, 0 given up") {
			t.Errorf("printed %s", printed)
		}
	})
}

func TestEveryFaultSendsTheSameHashes(t *testing.T) {
	file := traffic(t, load{requests: 60, clients: 2})
	var want []uint64
	eachFault(t, func(t *testing.T, fault string) {
		var got []uint64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, trace := range decodeBatch(t, r.Body).Traces {
				got = append(got, trace.Hash)
			}
			w.WriteHeader(http.StatusNoContent)
		}))
		defer server.Close()
		if err := run(t.Context(), []string{"-read", file, "-fault", fault, "-collector", server.Listener.Addr().String()}, io.Discard); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if want == nil {
			want = got
		}
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%d hashes are not the %d of the repaired agent", len(got), len(want))
		}
	})
}

func TestNoValueLeavesTheMachine(t *testing.T) {
	var sent bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(&sent, r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	file := traffic(t, load{requests: 2, clients: 1})
	if err := run(t.Context(), []string{"-read", file, "-collector", server.Listener.Addr().String()}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(sent.Bytes(), []byte("email")) {
		t.Error("the names of fields did not arrive")
	}
	for _, value := range []string{"@example.org", "Long Road", "Oldtown", "reader"} {
		if bytes.Contains(sent.Bytes(), []byte(value)) {
			t.Errorf("%q was sent", value)
		}
	}
}

func TestALostSegmentCostsItsConnectionOnly(t *testing.T) {
	l := load{requests: 40, clients: 2, blobMB: 9}
	file := traffic(t, l)
	eachFault(t, func(t *testing.T, fault string) {
		printed, got := watch(t, file, fault)
		if got.Exchanges != l.requests {
			t.Errorf("%d exchanges, want the %d of whole connections", got.Exchanges, l.requests)
		}
		if !strings.Contains(printed, "1 streams with a gap, 0 given up") {
			t.Errorf("printed %s", printed)
		}
	})
}

func TestABrokenFileIsAnErrorOrItsReadablePart(t *testing.T) {
	whole, err := os.ReadFile(traffic(t, load{requests: 20, clients: 1}))
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	for i := 400; i < len(damaged); i += 97 { // from the first segment with data on
		damaged[i] ^= 0xff
	}
	huge := bytes.Clone(whole[:40])
	copy(huge[32:], []byte{0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f})
	eachFault(t, func(t *testing.T, fault string) {
		for name, c := range map[string]struct {
			content []byte
			fails   bool
		}{
			"empty":             {nil, true},
			"no pcap":           {[]byte("GET / HTTP/1.1\r\n\r\n and more of it"), true},
			"cut in a packet":   {whole[:len(whole)-50], true},
			"header only":       {whole[:24], false},
			"a packet too long": {huge, true},
			"damaged":           {damaged, true},
		} {
			file := filepath.Join(t.TempDir(), "x.pcap")
			if err := os.WriteFile(file, c.content, 0o644); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := run(t.Context(), []string{"-read", file, "-fault", fault}, &out); (err != nil) != c.fails {
				t.Errorf("%s: error %v", name, err)
			}
			if name == "cut in a packet" && !strings.Contains(out.String(), "exchanges") {
				t.Errorf("%s: printed %q, want what came before the cut", name, out.String())
			}
		}
	})
}

func TestACollectorThatRefusesDoesNotStopTheAgent(t *testing.T) {
	file := traffic(t, load{requests: 30, clients: 1})
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	eachFault(t, func(t *testing.T, fault string) {
		var out strings.Builder
		if err := run(t.Context(), []string{"-read", file, "-fault", fault, "-collector", server.Listener.Addr().String()}, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "30 exchanges") || !strings.Contains(out.String(), "1 refused") {
			t.Errorf("printed %s", out.String())
		}
	})
}

func TestACollectorRefusesWhatIsNoBatch(t *testing.T) {
	w := httptest.NewRecorder()
	newCollector().handler().ServeHTTP(w, httptest.NewRequest("POST", "/traces", strings.NewReader("\xff\xff\xff")))
	if w.Code != http.StatusBadRequest {
		t.Errorf("code %d", w.Code)
	}
}

func TestAnArchiveHoldsTheExchangesAsTheyWere(t *testing.T) {
	l := load{requests: 12, clients: 1}
	file, har := traffic(t, l), filepath.Join(t.TempDir(), "x.har")
	if err := run(t.Context(), []string{"-read", file, "-har", har}, io.Discard); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(har)
	if err != nil {
		t.Fatal(err)
	}
	var archive struct {
		Log struct {
			Entries []struct {
				Request  struct{ Method, URL string }
				Response struct {
					Status  int
					Content struct{ Text string }
				}
			}
		}
	}
	if err := json.Unmarshal(b, &archive); err != nil {
		t.Fatal(err)
	}
	if len(archive.Log.Entries) != l.requests {
		t.Fatalf("%d entries", len(archive.Log.Entries))
	}
	for n, e := range archive.Log.Entries {
		r := l.request("http://api.example.org", n)
		w := httptest.NewRecorder()
		r.Header.Del("Accept-Encoding")
		api().ServeHTTP(w, r)
		var got, want any
		json.Unmarshal([]byte(e.Response.Content.Text), &got)
		json.Unmarshal(w.Body.Bytes(), &want)
		if e.Request.URL != r.URL.String() || e.Response.Status != 200 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("entry %d: %s %d\n%v, want\n%v", n, e.Request.URL, e.Response.Status, got, want)
		}
	}
}

func TestTheAgentWatchesLoopback(t *testing.T) {
	address, err := symptom.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(address, ":")
	eachFault(t, func(t *testing.T, fault string) {
		c := newCollector()
		server := httptest.NewServer(c.handler())
		defer server.Close()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		r, w := io.Pipe()
		var agent errgroup.Group
		agent.Go(func() error {
			err := run(ctx, []string{"-port", port, "-fault", fault, "-collector", server.Listener.Addr().String()}, w)
			return errors.Join(err, w.CloseWithError(io.EOF))
		})
		if _, err := r.Read(make([]byte, 64)); err != nil { // "watching"
			need.Permission(t, agent.Wait())
			t.Fatal(err)
		}
		if err := run(t.Context(), []string{"-port", port, "-requests", "50", "-clients", "2", "traffic"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		stop()
		printed, _ := io.ReadAll(r)
		if err := agent.Wait(); err != nil {
			t.Fatal(err)
		}
		if got := stats(t, server.URL); got.Exchanges != 50 {
			t.Errorf("%d exchanges of 50 were seen: %s", got.Exchanges, printed)
		}
	})
}

func TestTheCommandRefusesWhatItCannotDo(t *testing.T) {
	for _, args := range [][]string{{"-fault", "leak"}, {"-port", "0"}, {"nonsense"}, {"-listen", "0.0.0.0:0", "collector"},
		{"-read", "does-not-exist"}, {"-interface", "does-not-exist"}, {"-clients", "0", "traffic"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
}
