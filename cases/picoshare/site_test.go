package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/cases/internal/faults"
)

// everyFault runs a test on the repaired program and on it with each fault:
// what they do for a user is the same.
func everyFault(t *testing.T, test func(t *testing.T, s *site)) {
	for _, name := range append([]string{"none"}, known...) {
		t.Run(name, func(t *testing.T) { test(t, newSite(t, faults.Of(name))) })
	}
}

// site is a picoshare in this process and a browser that has logged in.
type site struct {
	t      *testing.T
	store  *store
	dir    string
	url    string
	client *http.Client
}

func newSite(t *testing.T, f *faults.Set) *site {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	store, err := openStore(filepath.Join(dir, "test.db"), f)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(newServer(store, "open sesame", f))
	t.Cleanup(func() {
		server.Close()
		store.check(t)
		store.close()
	})
	jar, _ := cookiejar.New(nil)
	s := &site{t: t, store: store, dir: dir, url: server.URL, client: &http.Client{Jar: jar}}
	if r, _ := s.post("/login", "application/x-www-form-urlencoded", url.Values{"secret": {"open sesame"}}.Encode()); r.StatusCode != http.StatusOK {
		t.Fatalf("log in: %s", r.Status)
	}
	return s
}

// check is the database's own check, and ours: no bytes without an entry.
func (s *store) check(t *testing.T) {
	var verdict string
	var orphans int
	if err := s.db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s, %v", verdict, err)
	}
	if err := s.db.QueryRow("SELECT count(*) FROM chunks WHERE entry NOT IN (SELECT id FROM entries)").Scan(&orphans); err != nil || orphans != 0 {
		t.Errorf("%d chunks without an entry, %v", orphans, err)
	}
}

func (s *site) do(method, path, contentType, body string, header ...string) (*http.Response, []byte) {
	s.t.Helper()
	q, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if contentType != "" {
		q.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	r, err := s.client.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r, b
}

func (s *site) get(path string, header ...string) (*http.Response, []byte) {
	s.t.Helper()
	return s.do("GET", path, "", "", header...)
}

func (s *site) post(path, contentType, body string) (*http.Response, []byte) {
	s.t.Helper()
	return s.do("POST", path, contentType, body)
}

// form is a multipart form of a file and perhaps an expiry.
func form(name string, b []byte, expires string) (contentType, body string) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	part, _ := w.CreateFormFile("file", name)
	part.Write(b)
	if expires != "" {
		w.WriteField("expires", expires)
	}
	w.Close()
	return w.FormDataContentType(), out.String()
}

func (s *site) upload(name string, b []byte, expires string) entry {
	s.t.Helper()
	contentType, body := form(name, b, expires)
	r, answer := s.post("/api/entries", contentType, body)
	var e entry
	if err := json.Unmarshal(answer, &e); r.StatusCode != http.StatusCreated || err != nil {
		s.t.Fatalf("upload: %s, %v: %s", r.Status, err, answer)
	}
	return e
}

// some returns n bytes that are the same in every run.
func some(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}
