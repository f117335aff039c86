package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
)

// bodies asks a server that reads the bodies of its requests whole, in all the ways
// that there are beside io.ReadAll, and reads what it answers.
func bodies() {
	mux := http.NewServeMux()
	for path, read := range map[string]func(http.ResponseWriter, *http.Request){"/file": formFile, "/form": postForm, "/json": jsonOfBody,
		"/buffer": bodyIntoBuffer, "/gzip": decompressedIntoBuffer, "/dump": dumpRequest} {
		mux.HandleFunc(path, read)
	}
	mux.HandleFunc("/answer", func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, large)) })
	server := httptest.NewServer(mux)
	defer server.Close()
	var file bytes.Buffer
	form := multipart.NewWriter(&file)
	part, _ := form.CreateFormFile("file", "name")
	part.Write(make([]byte, large))
	form.Close()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(make([]byte, 8*large))
	z.Close()
	post(server.URL+"/file", form.FormDataContentType(), file.Bytes())
	post(server.URL+"/form", "application/x-www-form-urlencoded", []byte(url.Values{"text": {strings.Repeat("x", large)}}.Encode()))
	post(server.URL+"/json", "application/json", []byte(`["`+strings.Repeat("x", large)+`"]`))
	post(server.URL+"/buffer", "text/plain", make([]byte, large))
	post(server.URL+"/gzip", "text/plain", packed.Bytes())
	post(server.URL+"/dump", "text/plain", make([]byte, large))
	for _, read := range []func(*http.Response){dumpResponse, answerIntoBuffer, answerRead} {
		answer, err := http.Get(server.URL + "/answer")
		check(err)
		read(answer)
		answer.Body.Close()
	}
}

func post(to, kind string, body []byte) {
	answer, err := http.Post(to, kind, bytes.NewReader(body))
	check(err)
	answer.Body.Close()
}

func formFile(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	check(err)
	file.Close()
}

func postForm(w http.ResponseWriter, r *http.Request) { check(r.ParseForm()) }

func jsonOfBody(w http.ResponseWriter, r *http.Request) {
	var v any
	check(json.NewDecoder(http.MaxBytesReader(w, r.Body, 8*large)).Decode(&v))
}

func bodyIntoBuffer(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	_, err := io.Copy(&b, http.MaxBytesReader(w, r.Body, 8*large))
	check(err)
}

func decompressedIntoBuffer(w http.ResponseWriter, r *http.Request) {
	z, err := gzip.NewReader(r.Body)
	check(err)
	var b bytes.Buffer
	_, err = io.Copy(&b, z)
	check(err)
}

func dumpRequest(w http.ResponseWriter, r *http.Request) {
	_, err := httputil.DumpRequest(r, true)
	check(err)
}

func dumpResponse(r *http.Response) {
	_, err := httputil.DumpResponse(r, true)
	check(err)
}

func answerIntoBuffer(r *http.Response) {
	var b bytes.Buffer
	_, err := b.ReadFrom(r.Body)
	check(err)
}

func answerRead(r *http.Response) {
	_, err := io.ReadAll(r.Body)
	check(err)
}
