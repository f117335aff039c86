package pull

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"strings"
	"testing"
	"time"
)

func TestWhateverAnAddressAnswersIsAProfileOrAReason(t *testing.T) {
	hang := make(chan struct{})
	mux := http.NewServeMux()
	mux.Handle("/debug/pprof/heap", pprof.Handler("heap"))
	mux.Handle("/goroutines", pprof.Handler("goroutine"))
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html><body>Sign in</body></html>"))
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "profiling is off", http.StatusForbidden) })
	mux.HandleFunc("/dies", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte{0x1f, 0x8b, 8})
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	defer close(hang)
	gone := httptest.NewServer(mux)
	gone.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		address, says string
		timeout       time.Duration
	}{
		{host, "", time.Minute},
		{server.URL + "/", "", time.Minute},
		{server.URL + "/debug/pprof/heap?gc=1", "", time.Minute},
		{server.URL + "/debug/pprof/heap?seconds=1", "difference", time.Minute},
		{server.URL + "/debug/pprof/heap?debug=1", "debug=1", time.Minute},
		{server.URL + "/goroutines", "one of goroutines", time.Minute},
		{server.URL + "/page", "a page in HTML", time.Minute},
		{server.URL + "/broken", `403 Forbidden ("profiling is off")`, time.Minute},
		{server.URL + "/none", "404", time.Minute},
		{server.URL + "/dies", "the connection was closed", time.Minute},
		{server.URL + "/hangs", "no answer in time", 50 * time.Millisecond},
		{gone.URL, "nobody listens there", time.Minute},
	} {
		e, err := NewEndpoint(c.address, c.timeout)
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Fetch(context.Background())
		if c.says == "" && (err != nil || p.InUse == 0) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", c.address, err)
		}
	}
}

func TestAnAddressIsAWebServers(t *testing.T) {
	for address, want := range map[string]string{
		"localhost:6060":                       "http://localhost:6060/debug/pprof/heap",
		"https://me:secret@shop.example/x?t=1": "https://shop.example/x",
		"ftp://shop.example":                   "",
		"http://":                              "",
		"http://%zz":                           "",
	} {
		e, err := NewEndpoint(address, time.Second)
		if (err == nil) != (want != "") || err == nil && e.Name() != want {
			t.Errorf("%s: %v, %v", address, e, err)
		}
	}
}
