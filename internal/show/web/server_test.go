package web_test

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/highwater-go/highwater/internal/answer/compare"
	"github.com/highwater-go/highwater/internal/decide/explain"
	"github.com/highwater-go/highwater/internal/show/web"
)

// one is a shelf of one recording, "long-1".
type one struct{ book *web.Book }

func (o one) Book(name string) (*web.Book, error) {
	if name != "long-1" {
		return nil, fs.ErrNotExist
	}
	return o.book, nil
}
func (one) List() (any, error) { return map[string]any{"recordings": []string{}}, nil }
func (one) Compare(before, after string) (*compare.Diff, string, error) {
	return &compare.Diff{}, "<b>" + before + after, nil
}

func TestOnlyWhoKnowsTheAddressIsAnswered(t *testing.T) {
	t.Parallel()
	s := web.Server{Shelf: one{book(long(t, 300, 0))}, Token: "secret", Hosts: []string{"127.0.0.1:80"}}
	for _, c := range []struct {
		name, method, host, path, site string
		want                           int
	}{
		{"the page", "GET", "127.0.0.1:80", "/secret/r/long-1/", "", 200},
		{"its data, asked for by itself", "GET", "127.0.0.1:80", "/secret/r/long-1/api/overview", "same-origin", 200},
		{"the address typed by hand", "GET", "127.0.0.1:80", "/secret/", "none", 200},
		{"its script", "GET", "127.0.0.1:80", "/secret/assets/page.js", "", 200},
		{"two recordings compared", "GET", "127.0.0.1:80", "/secret/diff?before=a&after=b", "", 200},
		{"no token", "GET", "127.0.0.1:80", "/", "", 403},
		{"a wrong token", "GET", "127.0.0.1:80", "/secrets/r/long-1/", "", 403},
		{"no token, for a script", "GET", "127.0.0.1:80", "/assets/page.js", "", 403},
		{"a name that was pointed here", "GET", "evil.example:80", "/secret/r/long-1/", "", 403},
		{"another page's request", "GET", "127.0.0.1:80", "/secret/r/long-1/api/overview", "cross-site", 403},
		{"a request that would change something", "POST", "127.0.0.1:80", "/secret/r/long-1/", "", 404},
		{"a recording that is none", "GET", "127.0.0.1:80", "/secret/r/other-1/", "", 404},
		{"a file outside", "GET", "127.0.0.1:80", "/secret/assets/..%2f..%2fgo.mod", "", 404},
		{"led here by another page", "GET", "127.0.0.1:80", "/secret/r/long-1/", "cross-site navigate document", 200},
		{"led to its data by another page", "GET", "127.0.0.1:80", "/secret/r/long-1/api/overview", "cross-site navigate document", 403},
		{"framed by another page", "GET", "127.0.0.1:80", "/secret/r/long-1/", "cross-site navigate iframe", 403},
		{"posted by another page", "POST", "127.0.0.1:80", "/secret/r/long-1/", "cross-site navigate document", 403},
		{"a path that is not clean, without a token", "GET", "127.0.0.1:80", "/a//b/../c", "", 403},
		{"a path that leads to the token", "GET", "127.0.0.1:80", "/a/../secret/r/long-1/", "", 403},
		{"a path that is not clean, under another name", "GET", "evil.example:80", "/secret//r/long-1/", "", 403},
		{"a path that is not clean, with a token", "GET", "127.0.0.1:80", "/secret//r/long-1/", "", 307},
		{"a moment that is none", "GET", "127.0.0.1:80", "/secret/r/long-1/api/instant?at=tomorrow", "", 400},
		{"a window that is none", "GET", "127.0.0.1:80", "/secret/r/long-1/api/timeline?from=5&to=NaN&steps=10", "", 400},
		{"a window that is too large", "GET", "127.0.0.1:80", "/secret/r/long-1/api/timeline?from=0&to=1e300&steps=10", "", 400},
		{"steps without end", "GET", "127.0.0.1:80", "/secret/r/long-1/api/timeline?from=0&to=20&steps=2000000000", "", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.path, nil)
			r.Host = c.host
			for i, value := range strings.Fields(c.site) {
				r.Header.Set([]string{"Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"}[i], value)
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("%d, want %d: %s", w.Code, c.want, w.Body)
			}
			policy := w.Header().Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
				t.Errorf("policy %q", policy)
			}
			if w.Header().Get("Referrer-Policy") != "no-referrer" || w.Header().Get("X-Content-Type-Options") != "nosniff" ||
				w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

// failing is a shelf that panics where a book is asked for.
type failing struct{ one }

func (failing) Book(string) (*web.Book, error) { panic("broken") }

func TestAPanicIsAnsweredAndTheOtherPagesStillWork(t *testing.T) {
	t.Parallel()
	var told any
	s := web.Server{Shelf: failing{}, Token: "secret", Hosts: []string{"127.0.0.1:80"}, Failed: func(what any, stack []byte) {
		if len(stack) == 0 {
			t.Error("no stack")
		}
		told = what
	}}
	h := s.Handler()
	for path, want := range map[string]int{"/secret/r/long-1/": 500, "/secret/r/long-1/api/overview": 500, "/secret/api/list": 200} {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "127.0.0.1:80"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want || w.Header().Get("Content-Security-Policy") == "" || strings.Contains(w.Body.String(), "broken") {
			t.Errorf("%s: %d %q, want %d", path, w.Code, w.Body, want)
		}
	}
	if told != "broken" {
		t.Errorf("told %v", told)
	}
}

func TestABookWhoseReadingPanickedCanBeReadAgain(t *testing.T) {
	t.Parallel()
	b := book(long(t, 300, 0))
	answer := b.Answer
	b.Answer = func(*explain.Evidence) (*explain.Answer, error) { panic("broken") }
	func() {
		defer func() { _ = recover() }()
		_, _ = b.Overview()
	}()
	b.Warm() // nobody is there to recover
	b.Answer = answer
	if _, err := b.Overview(); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestAnIdleServerIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, under := time.Now(), make(chan struct{})
		i := &web.Idle{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-under })}
		over := make(chan time.Duration)
		go func() {
			i.Wait(t.Context(), 30*time.Minute)
			over <- time.Since(began)
		}()
		time.Sleep(20 * time.Minute) // of the bubble's clock
		go i.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		time.Sleep(time.Hour) // it is being answered
		close(under)
		if got := <-over; got != 110*time.Minute {
			t.Errorf("over after %s, want 110 minutes", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, cancel)
		if i.Wait(ctx, 0) || i.Wait(ctx, 2*time.Hour) {
			t.Error("idle, though it was to serve for ever or was ended before")
		}
	})
}

func TestWordsOfARecordingAreNoMarkup(t *testing.T) {
	t.Parallel()
	s := web.Server{Shelf: one{book(long(t, 300, 0))}, Token: "secret", Hosts: []string{"127.0.0.1:80"}}
	r := httptest.NewRequest("GET", "/secret/diff?before=%3Cscript%3E&after=b", nil)
	r.Host = "127.0.0.1:80"
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	if text := w.Body.String(); strings.Contains(text, "<b>") || strings.Contains(text, "<script>") {
		t.Errorf("%s", text)
	}
}

func TestHostsAreThoseOfTheListener(t *testing.T) {
	t.Parallel()
	got := web.LoopbackHosts(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	if strings.Join(got, " ") != "127.0.0.1:8080 localhost:8080 [::1]:8080" {
		t.Errorf("hosts %v", got)
	}
}

func TestTokensDiffer(t *testing.T) {
	t.Parallel()
	if a, b := web.NewToken(), web.NewToken(); a == b || len(a) < 20 {
		t.Errorf("tokens %q and %q", a, b)
	}
}

func TestTheOfflineFileIsBoundedAndSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	b := book(long(t, 36_000, 0))
	b.Redact = true
	var page strings.Builder
	left, err := b.WriteOffline(&page)
	if err != nil {
		t.Fatal(err)
	}
	if n := page.Len(); n > 2<<20 {
		t.Errorf("an hour has %d bytes", n)
	}
	if said := strings.Join(left, "; "); !strings.Contains(said, "samples") || !strings.Contains(said, "collections") {
		t.Errorf("left out: %q", said)
	}
	for _, secret := range []string{"/home/secret", "secret-host"} {
		if strings.Contains(page.String(), secret) {
			t.Errorf("%q is in the redacted file", secret)
		}
	}
	if strings.Contains(page.String(), "src=") || strings.Contains(page.String(), "href=\"http") {
		t.Error("the file refers to another")
	}
}
