package main

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http/httptest"
	"testing"
)

func TestBothWaysStoreTheSameFile(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<14)
	var hashes []string
	for name, way := range map[string]bool{"faulty": false, "fixed": true} {
		s := &store{dir: t.TempDir()}
		take := s.upload
		if way {
			take = s.stream
		}
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("file", "a.mov")
		if err != nil {
			t.Fatal(err)
		}
		part.Write(content)
		form.Close()
		r := httptest.NewRequest("POST", "/upload", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		w := httptest.NewRecorder()
		take(w, r)
		listed := httptest.NewRecorder()
		s.list(listed, httptest.NewRequest("GET", "/files", nil))
		var files []file
		if err := json.Unmarshal(listed.Body.Bytes(), &files); err != nil {
			t.Fatal(err)
		}
		if w.Code != 200 || len(files) != 1 || files[0].Name != "a.mov" || files[0].Bytes != int64(len(content)) {
			t.Fatalf("%s: code %d, files %+v", name, w.Code, files)
		}
		hashes = append(hashes, files[0].SHA256)
	}
	if hashes[0] != hashes[1] {
		t.Errorf("hashes %v", hashes)
	}
}

func TestOnlyTheLatestUploadsAreRemembered(t *testing.T) {
	s := &store{dir: t.TempDir()}
	for range remembered + 3 {
		if err := s.save("x", bytes.NewReader(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.files) != remembered {
		t.Errorf("%d files", len(s.files))
	}
}
