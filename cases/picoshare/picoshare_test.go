package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

func TestAnUploadComesBackByteForByte(t *testing.T) {
	everyFault(t, func(t *testing.T, s *site) {
		for _, n := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 5*chunkSize + 77} {
			b := some(n)
			e := s.upload("some file.bin", b, "")
			if e.Size != int64(n) || e.Name != "some file.bin" {
				t.Errorf("%d bytes: stored as %+v", n, e)
			}
			if _, got := s.get("/f/" + e.ID); !bytes.Equal(got, b) {
				t.Errorf("%d bytes: %d others came back", n, len(got))
			}
		}
		var list []entry
		if _, answer := s.get("/api/entries"); json.Unmarshal(answer, &list) != nil || len(list) != 6 {
			t.Errorf("%d entries are listed, want 6", len(list))
		}
	})
}

func TestARangeComesByteForByte(t *testing.T) {
	everyFault(t, func(t *testing.T, s *site) {
		b := some(4*chunkSize + 1000)
		e := s.upload("video.mp4", b, "")
		for _, c := range []struct {
			header   string
			from, to int // half open
			status   int
		}{
			{"bytes=0-0", 0, 1, 206},
			{fmt.Sprintf("bytes=%d-%d", chunkSize-1, chunkSize), chunkSize - 1, chunkSize + 1, 206},
			{fmt.Sprintf("bytes=%d-", 2*chunkSize+5), 2*chunkSize + 5, len(b), 206},
			{"bytes=-7", len(b) - 7, len(b), 206},
			{"bytes=5-100000000", 5, len(b), 206},
			{fmt.Sprintf("bytes=%d-", len(b)), 0, 0, 416},
			{"bytes=9-2", 0, 0, 416},
			{"pages=1-2", 0, 0, 416},
		} {
			r, got := s.get("/f/"+e.ID, "Range", c.header)
			if r.StatusCode != c.status || c.status == 206 && !bytes.Equal(got, b[c.from:c.to]) {
				t.Errorf("%s: %s with %d bytes, want %d with [%d,%d)", c.header, r.Status, len(got), c.status, c.from, c.to)
			}
		}
	})
}

func TestACutUploadLeavesNothing(t *testing.T) {
	everyFault(t, func(t *testing.T, s *site) {
		contentType, body := form("cut.bin", some(3<<20), "")
		for _, n := range []int{0, 10, 1 << 20, len(body) - 10} {
			s.cut(contentType, body[:n], len(body))
		}
		var list []entry
		if _, answer := s.get("/api/entries"); json.Unmarshal(answer, &list) != nil || len(list) != 0 {
			t.Errorf("listed: %+v", list)
		}
	})
}

// cut sends less than it announced, hangs up, and waits for the server to see it.
func (s *site) cut(contentType, body string, announced int) {
	s.t.Helper()
	at, _ := url.Parse(s.url)
	c, err := net.Dial("tcp", at.Host)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	cookie := s.client.Jar.Cookies(at)[0]
	fmt.Fprintf(c, "POST /api/entries HTTP/1.1\r\nHost: x\r\nCookie: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", cookie, contentType, announced, body)
	c.(*net.TCPConn).CloseWrite()
	answer, _ := io.ReadAll(c)
	if !strings.Contains(string(answer), " 400 ") {
		s.t.Errorf("%d of %d bytes: answer %.60q, want 400", len(body), announced, answer)
	}
}

func TestAFileThatCannotBeReadToItsEndLeavesNothing(t *testing.T) {
	everyFault(t, func(t *testing.T, s *site) {
		broken := io.MultiReader(bytes.NewReader(some(2*chunkSize+5)), iotest.ErrReader(errors.New("disk on fire")))
		if _, err := s.store.add(context.Background(), entry{Name: "half"}, broken); err == nil || !strings.Contains(err.Error(), "disk on fire") {
			t.Errorf("error %v", err)
		}
		if entries, err := s.store.list(context.Background()); err != nil || len(entries) != 0 {
			t.Errorf("listed: %v, %v", entries, err)
		}
	})
}

func TestABadUploadIsRefused(t *testing.T) {
	s := newSite(t, nil)
	withExpiry := func(d string) (string, string) { return form("x", []byte("x"), d) }
	for name, make := range map[string]func() (string, string){
		"no form":            func() (string, string) { return "text/plain", "hello" },
		"no boundary":        func() (string, string) { return "multipart/form-data", "hello" },
		"no file":            func() (string, string) { return "multipart/form-data; boundary=a", "--a--\r\n" },
		"expiry in words":    func() (string, string) { return withExpiry("tomorrow") },
		"expiry in the past": func() (string, string) { return withExpiry("-1h") },
	} {
		contentType, body := make()
		if r, answer := s.post("/api/entries", contentType, body); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s: %s", name, r.Status, answer)
		}
	}
}

func TestAnExpiredFileIsGoneAtOnceAndItsBytesAtTheNextCleaning(t *testing.T) {
	everyFault(t, func(t *testing.T, s *site) {
		short, long := s.upload("short", some(chunkSize+1), "1ns"), s.upload("long", some(10), "1h")
		for id, want := range map[string]int{short.ID: 404, long.ID: 200} {
			if r, _ := s.get("/f/" + id); r.StatusCode != want {
				t.Errorf("%s: %s, want %d", id, r.Status, want)
			}
		}
		if err := s.store.clean(context.Background(), time.Now()); err != nil {
			t.Fatal(err)
		}
		var chunks int
		if err := s.store.db.QueryRow("SELECT count(*) FROM chunks").Scan(&chunks); err != nil || chunks != 1 {
			t.Errorf("%d chunks are left, %v; want the long one's", chunks, err)
		}
	})
}

func TestVacuumOnRequestShrinksTheDatabaseAndItsLog(t *testing.T) {
	s := newSite(t, nil)
	e := s.upload("big", some(10<<20), "")
	if r, _ := s.do("DELETE", "/api/entries/"+e.ID, "", ""); r.StatusCode != http.StatusNoContent {
		t.Fatalf("delete: %s", r.Status)
	}
	if r, b := s.post("/api/vacuum", "", ""); r.StatusCode != http.StatusNoContent {
		t.Fatalf("vacuum: %s: %s", r.Status, b)
	}
	for _, name := range []string{"test.db", "test.db-wal"} {
		if i, err := os.Stat(filepath.Join(s.dir, name)); err != nil || i.Size() > 1<<20 {
			t.Errorf("%s: %v, %v; want less than 1 MiB", name, i.Size(), err)
		}
	}
}

func TestTemporaryFilesStayOnlyByTheFault(t *testing.T) {
	everyFault(t, func(t *testing.T, s *site) {
		s.upload("big", some(33<<20), "")
		left, _ := filepath.Glob(filepath.Join(s.dir, "multipart-*"))
		if want := s.store.faults.Has("formleak"); (len(left) > 0) != want {
			t.Errorf("left: %v", left)
		}
	})
}

func TestOnlyWhoKnowsTheSecretGetsInButALinkIsEnoughToDownload(t *testing.T) {
	s := newSite(t, nil)
	e := s.upload("page.html", []byte("<script>"), "")
	stranger := &site{t: t, url: s.url, client: &http.Client{}}
	for _, c := range []struct {
		method, path, cookie string
		want                 int
	}{
		{"GET", "/api/entries", "", 401},
		{"POST", "/api/entries", "", 401},
		{"DELETE", "/api/entries/" + e.ID, "", 401},
		{"POST", "/api/vacuum", "", 401},
		{"GET", "/api/entries", cookieName + "=0123", 401},
		{"POST", "/login", "", 403},
		{"GET", "/", "", 200},
		{"GET", "/f/" + e.ID, "", 200},
		{"GET", "/f/UNKNOWN", "", 404},
		{"GET", "/f/../api/entries", "", 401},
	} {
		if r, _ := stranger.do(c.method, c.path, "", "", "Cookie", c.cookie); r.StatusCode != c.want {
			t.Errorf("%s %s: %s, want %d", c.method, c.path, r.Status, c.want)
		}
	}
	if r, _ := stranger.get("/f/" + e.ID); !strings.HasPrefix(r.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("a page of a stranger would run here: %v", r.Header)
	}
	if _, page := stranger.get("/"); bytes.Contains(page, []byte(e.ID)) {
		t.Error("the page shows a stranger the files")
	}
	if _, page := s.get("/"); !bytes.Contains(page, []byte(e.ID)) {
		t.Error("the page does not show the files")
	}
}

func TestChunksOfAnUploadThatDidNotEndGoAtTheNextStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	for range 2 {
		s, err := openStore(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.check(t)
		if _, err := s.db.Exec(insertChunk, "nobody", 0, []byte("lost")); err != nil {
			t.Fatal(err)
		}
		s.close()
	}
}

func TestTheTruthMatchesTheSource(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		if err := truthfile.Relocate("."); err != nil {
			t.Fatal(err)
		}
	}
	if err := truthfile.Check(".", known...); err != nil {
		t.Error(err)
	}
}
