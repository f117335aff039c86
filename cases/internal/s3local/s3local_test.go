package s3local

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func put(t *testing.T, server *httptest.Server, key, content string) int {
	t.Helper()
	r, err := http.NewRequest("PUT", server.URL+"/b/"+key, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestAStoreKnowsWhatItWasGiven(t *testing.T) {
	for _, forget := range []bool{false, true} {
		s, err := New("b", forget)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(s)
		defer server.Close()
		if code := put(t, server, "x", "hello"); code != 200 {
			t.Fatalf("code %d", code)
		}
		s.Refuse(true)
		if code := put(t, server, "y", "hello"); code != 503 {
			t.Errorf("code %d of a store that refuses", code)
		}
		s.Refuse(false)
		sum := sha256.Sum256([]byte("hello"))
		want := Object{"x", 5, hex.EncodeToString(sum[:])}
		if got := s.Objects(); len(got) != 1 || got[0] != want {
			t.Errorf("forget %t: %+v, want %+v", forget, got, want)
		}
		kept := map[bool]string{false: "hello"}[forget]
		if got, err := s.Get("x"); err != nil || !bytes.Equal(got, []byte(kept)) {
			t.Errorf("forget %t: %q is kept, %v", forget, got, err)
		}
		if _, err := s.Get("y"); err == nil {
			t.Error("a refused object is there")
		}
	}
}
