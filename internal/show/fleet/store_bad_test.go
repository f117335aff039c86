package fleet

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/words/sample"
)

// storeOf opens the store of a server, which is closed when the test ends.
func storeOf(t *testing.T, address string, o Options) *clickHouse {
	t.Helper()
	s, err := Open(address+"/hw", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*clickHouse)
}

func TestAServerOfAnUnknownAuthorityGetsNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.TLS == nil || len(r.TLS.PeerCertificates) != 1 {
			t.Error("there is no certificate of the client")
		}
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	err := storeOf(t, server.URL, Options{}).Put(t.Context(), Points, Encode(nil, Point{}))
	if err == nil || errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "certificate") || asked.Load() != 0 {
		t.Errorf("%v, asked %d times", err, asked.Load())
	}
	dir := t.TempDir()
	ca, cert, key := filepath.Join(dir, "ca"), filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	own := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{ca: {Type: "CERTIFICATE", Bytes: server.Certificate().Raw},
		cert: {Type: "CERTIFICATE", Bytes: own.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := storeOf(t, server.URL, Options{CA: ca, Cert: cert, Key: key}).Put(t.Context(), Points, Encode(nil, Point{})); err != nil || asked.Load() != 1 {
		t.Errorf("with its authority: %v, asked %d times", err, asked.Load())
	}
	for _, o := range []Options{{CA: key}, {CA: filepath.Join(dir, "none")}, {Cert: cert}, {Cert: ca, Key: cert}} {
		if _, err := Open(server.URL+"/hw", o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// A store that hangs, answers for ever, breaks off or talks nonsense costs neither rows nor memory.
func TestAStoreThatTalksNonsense(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	zeros := make([]byte, 64<<10)
	for name, answer := range map[string]http.HandlerFunc{
		"it hangs": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else its end is not noticed
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		},
		"it never ends": func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := w.Write(zeros); err != nil {
					return
				}
			}
		},
		"it breaks off": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half")
			panic(http.ErrAbortHandler)
		},
		"it sends elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
		},
		"it is another's page":  func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>sign in</html>") },
		"it knows no such page": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"it is full": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space", 500)
		},
		"it has too many parts": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "Code: 252. DB::Exception: Too many parts (300)", 500)
		},
		"it has no room for a body":  func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(507) },
		"it is told to take no more": func(w http.ResponseWriter, r *http.Request) { http.Error(w, "Code: 164. DB::Exception: readonly", 500) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(answer)
			t.Cleanup(server.Close)
			store := storeOf(t, server.URL, Options{})
			store.client.Timeout = 2 * time.Second
			s := newSpool(t, t.TempDir(), 1<<20)
			keep(t, s, "a", "b")
			for range refusals + 1 {
				if err := s.Drain(t.Context(), store); err == nil || strings.Contains(err.Error(), "INSERT") {
					t.Fatal(err)
				}
				if name == "it hangs" {
					break // once is enough to wait for
				}
			}
			if st := s.Stats(); st.Batches != 2 || st.Refused != 0 {
				t.Errorf("%+v", st)
			}
			if name == "it never ends" { // a question reads what a store may answer: 256 MiB
				return
			}
			if got, err := AllIncidents(t.Context(), store, Scope{Tenant: "t"}); err == nil {
				t.Errorf("a question has the answer %+v", got)
			}
		})
	}
}

// A password is changed while an agent runs.
func TestCredentialsAreReadAgain(t *testing.T) {
	t.Parallel()
	now := "new"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-ClickHouse-Key") != now {
			http.Error(w, "Code: 516. DB::Exception: agent: Authentication failed", http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	store := storeOf(t, server.URL, Options{Credentials: Credentials{User: "agent", Password: "old"},
		Renew: func() (Credentials, error) { return Credentials{User: "agent", Password: now}, nil }})
	if err := store.Put(t.Context(), Points, Encode(nil, Point{})); !errors.Is(err, ErrCredentials) {
		t.Errorf("with the old one: %v", err)
	}
	if err := store.Put(t.Context(), Points, Encode(nil, Point{})); err != nil {
		t.Error(err)
	}
}

// The store has a batch, and its answer is lost: the same batch comes again, at once and after
// others. It is there once, and sums are what they were.
func TestABatchWhoseAnswerIsLostCountsOnce(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) { losesAnAnswer(t, s, 40) })
}

// losesAnAnswer sends a batch whose first answer is lost, others, and it again.
func losesAnAnswer(t *testing.T, s Store, others int) {
	t.Helper()
	store, lost := s, false
	if c, ok := s.(*clickHouse); ok {
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: c.base.Scheme, Host: c.base.Host})
		proxy.ErrorLog = log.New(io.Discard, "", 0)
		proxy.ModifyResponse = func(*http.Response) error {
			if lost {
				return nil
			}
			lost = true
			return errors.New("the answer is lost")
		}
		server := httptest.NewServer(proxy)
		t.Cleanup(server.Close)
		through, err := Open(server.URL+"/"+c.database, c.options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { through.Close() })
		store = through
	}
	spool := newSpool(t, t.TempDir(), 1<<30)
	row := func(process int) []byte {
		return Encode(nil, HeapHour{Tenant: "lost", Service: "shop", Stack: AllStacks, Process: hashOf(fmt.Sprint(process)), Hour: monday, Version: "v1",
			InUseSeconds: 3600, Seconds: 3600, Written: monday})
	}
	if err := spool.Put(HeapHours, row(0)); err != nil {
		t.Fatal(err)
	}
	if err := spool.Drain(t.Context(), store); (err != nil) != lost {
		t.Fatalf("lost: %v, %v", lost, err)
	}
	for i := range others {
		if err := spool.Put(HeapHours, row(1+i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(spool.Drain(t.Context(), store), store.Put(t.Context(), HeapHours, row(0))); err != nil {
		t.Fatal(err)
	}
	sums,
		err := ask[struct{ N, Sum uint64 }](t.Context(), s, "SELECT CAST(count(*) AS UInt64), sum(inuse_seconds) FROM {heap_hour} WHERE tenant = {tenant:String}",
		map[string]any{"tenant": "lost"})
	if want := uint64(1 + others); err != nil || len(sums) != 1 || sums[0].N != want || sums[0].Sum != 3600*want {
		t.Errorf("%+v, %v; want %d rows", sums, err, want)
	}
}

// Two clusters of one tenant have a pod of the same name with the same pid: they are two.
func TestTwoClustersOfOneTenantAreToldApart(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) {
		for _, boot := range []string{"of-the-one", "of-the-other"} {
			g := gathered{}
			c := NewCollector(Node{Tenant: "t", Name: "node-0", BootID: boot}, g.put, func(err error) { t.Error(err) })
			l := c.NewLife(func(_ sample.Program) Identity {
				return Identity{Service: "shop", Version: "v1", Pod: "shop-0", Namespace: "prod"}
			})
			if err := l.Program(shop); err != nil {
				t.Fatal(err)
			}
			c.Incident(Incident{Process: c.Process(shop), Kind: KindKill, At: monday}, Identity{Service: "shop", Pod: "shop-0"})
			for table, rows := range g {
				if err := s.Put(t.Context(), table, rows); err != nil {
					t.Fatal(err)
				}
			}
		}
		list, err := AllIncidents(t.Context(), s, Scope{Tenant: "t", Service: "shop"})
		if err != nil || len(list) != 2 || list[0].Incident == list[1].Incident {
			t.Errorf("%+v, %v", list, err)
		}
		f := &Fleet{}
		if err := f.count(t.Context(), s, Scope{Tenant: "t"}); err != nil || f.Processes != 2 || f.Services != 1 {
			t.Errorf("%+v, %v", f, err)
		}
	})
}

// A service gets another name: what it holds is no growth of a service that there was not.
func TestAServiceThatChangesItsNameIsNoGrowth(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, s Store) {
		put(t, s, Stacks, Stack{Tenant: "t", Stack: ID{1}, Function: "main.put", File: "main.go", Line: 7})
		for h := range 48 {
			service := "checkout"
			if h >= 24 {
				service = "checkout-next"
			}
			at := monday.Add(time.Duration(h) * time.Hour)
			process := hashOf(service)
			put(t, s, Processes, Process{Tenant: "t", Service: service, Process: process, Started: monday, HeapProfile: "on", Written: monday})
			for _, stack := range []ID{AllStacks, {1}} {
				put(t, s, HeapHours, HeapHour{Tenant: "t", Service: service, Stack: stack, Process: process, Hour: at, InUseSeconds: 3600 << 20, Seconds: 3600,
					Written: at})
			}
		}
		f, err := Top(t.Context(), s, Scope{Tenant: "t", Since: monday}, 10)
		if err != nil || len(f.Lines) != 0 || f.Services != 2 {
			t.Errorf("%+v, %v", f, err)
		}
	})
}
