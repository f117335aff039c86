// Helmchart is a repository of charts: who uploads a chart gets its name and version back. Some
// archives have a file of zeros that is a thousand times as large unpacked. It keeps the index, 25 MiB.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
)

type entry struct {
	name, version string
	digest        [64]byte
	readme        []byte
}

type repository struct{ index map[string]*entry }

func newRepository() *repository {
	r := &repository{map[string]*entry{}}
	for i := range 16_000 {
		e := &entry{name: fmt.Sprintf("chart-%d", i), version: "1.2.3", readme: bytes.Repeat([]byte("# "), 700)}
		r.index[e.name] = e
	}
	return r
}

func (r *repository) upload(w http.ResponseWriter, req *http.Request) {
	chart, err := loader.LoadArchive(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if e := r.index[chart.Name()]; e != nil {
		fmt.Fprintln(w, "replaces", e.name, e.version)
		return
	}
	fmt.Fprintln(w, chart.Name(), chart.Metadata.Version, len(chart.Files))
}

// archive is a chart with one more file, of size zeros.
func archive(size int) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	put := func(name string, content []byte) {
		if err := t.WriteHeader(&tar.Header{Name: "shop/" + name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			log.Fatal(err)
		}
		t.Write(content)
	}
	put("Chart.yaml", []byte("apiVersion: v2\nname: shop\nversion: 0.1.0\n"))
	put("values.yaml", []byte("replicas: 2\n"))
	put("files/seed.bin", make([]byte, size))
	t.Close()
	z.Close()
	return out.Bytes()
}

func send(url string, body []byte, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Post(url, "application/gzip", bytes.NewReader(body))
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
	r := newRepository()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /charts", r.upload)
	go http.Serve(l, nil)
	url, end := "http://"+l.Addr().String()+"/charts", time.Now().Add(*last)
	small, large := archive(20_000), archive(32<<20)
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() { send(url, small, 10*time.Millisecond, end) })
		clients.Go(func() { send(url, large, 400*time.Millisecond, end) })
	}
	clients.Wait()
}
