// Regcatalog is a small registry of container images, with its storage in memory: layers of 24 MiB
// are there from the start. Some clients ask the catalog for millions of names at once.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/docker/distribution/configuration"
	"github.com/docker/distribution/registry/handlers"
	_ "github.com/docker/distribution/registry/storage/driver/inmemory"
	"github.com/sirupsen/logrus"
)

func registry() http.Handler {
	config := &configuration.Configuration{Storage: configuration.Storage{"inmemory": configuration.Parameters{}}}
	config.Log.Level = "fatal"
	config.Log.AccessLog.Disabled = true
	config.HTTP.Secret = "no secret"
	logrus.SetLevel(logrus.FatalLevel)
	return handlers.NewApp(context.Background(), config)
}

// push uploads a layer of a megabyte and a name to go with it.
func push(url, name string, layer []byte) error {
	resp, err := http.Post(url+"/v2/"+name+"/blobs/uploads/", "", nil)
	if err != nil {
		return err
	}
	resp.Body.Close()
	at := resp.Header.Get("Location")
	if at == "" {
		return fmt.Errorf("push %s: %s", name, resp.Status)
	}
	put, err := http.NewRequest(http.MethodPut, fmt.Sprintf("%s&digest=sha256:%x", at, sha256.Sum256(layer)), bytes.NewReader(layer))
	if err != nil {
		return err
	}
	put.Header.Set("Content-Type", "application/octet-stream")
	resp, err = http.DefaultClient.Do(put)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("push %s: %s", name, resp.Status)
	}
	return nil
}

func get(url string, every time.Duration, end time.Time) {
	for time.Now().Before(end) {
		resp, err := http.Get(url)
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, registry())
	url := "http://" + l.Addr().String()
	for i := range 24 {
		if err := push(url, fmt.Sprintf("team/app%d", i), bytes.Repeat([]byte{byte(i)}, 1<<20)); err != nil {
			log.Fatal(err)
		}
	}
	end := time.Now().Add(*last)
	var clients sync.WaitGroup
	clients.Go(func() { get(url+"/v2/_catalog?n=10", 5*time.Millisecond, end) })
	for range 2 {
		clients.Go(func() { get(url+"/v2/_catalog?n=3000000", 300*time.Millisecond, end) })
	}
	clients.Wait()
}
