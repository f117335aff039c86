// Openapizip takes archives of pictures. Its requests are checked against an OpenAPI document
// (kin-openapi) before the handler sees them. Some archives are small only because they are
// compressed. It keeps the pictures' index, about 30 MiB.
package main

import (
	"archive/zip"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

const document = `
openapi: 3.0.0
info: {title: pictures, version: "1"}
paths:
  /archive:
    post:
      requestBody:
        required: true
        content:
          application/zip: {schema: {type: string, format: binary}}
      responses: {"200": {description: taken}}
`

type picture struct {
	name   string
	width  int
	height int
	tags   [16]string
}

type pictures struct {
	router routers.Router
	mu     sync.Mutex
	index  map[string]*picture
}

func newPictures() (*pictures, error) {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(document))
	if err != nil {
		return nil, err
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	p := &pictures{router: router, index: map[string]*picture{}}
	for i := range 70_000 {
		p.index[fmt.Sprintf("%d.png", i)] = &picture{width: i, height: 3}
	}
	return p, nil
}

// check compares a request with the document.
func (p *pictures) check(r *http.Request) error {
	route, params, err := p.router.FindRoute(r)
	if err != nil {
		return err
	}
	return openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
	})
}

func (p *pictures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	if err := p.check(r); err != nil {
		http.Error(w, "not as documented", http.StatusBadRequest)
		return
	}
	packed, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range archive.File {
		p.index[f.Name].width++
	}
}

func pack(size int) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	f, err := z.Create("7.png")
	if err != nil {
		log.Fatal(err)
	}
	f.Write(make([]byte, size))
	if err := z.Close(); err != nil {
		log.Fatal(err)
	}
	return out.Bytes()
}

func post(addr string, body []byte, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Post("http://"+addr+"/archive", "application/zip", bytes.NewReader(body))
		if err != nil {
			log.Print(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		time.Sleep(every)
	}
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	p, err := newPictures()
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, p)
	end, addr := time.Now().Add(*last), l.Addr().String()
	small, large := pack(4000), pack(24<<20)
	var clients sync.WaitGroup
	clients.Go(func() { post(addr, small, 5*time.Millisecond, end) })
	for range 4 {
		clients.Go(func() { post(addr, large, 500*time.Millisecond, end) })
	}
	clients.Wait()
}
