// Ctdimport takes in images of containers, as archives in gzip, into a store on disk. Some have a
// manifest with white space behind it, and much of it. It keeps what it knows of the images, 25 MiB.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	_ "crypto/sha256" // for the digests of the store
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/containerd/containerd/content"
	"github.com/containerd/containerd/content/local"
	"github.com/containerd/containerd/images/archive"
)

type registry struct {
	store  content.Store
	mu     sync.Mutex
	images map[string]string
}

func newRegistry(dir string) (*registry, error) {
	store, err := local.NewStore(dir)
	if err != nil {
		return nil, err
	}
	r := &registry{store: store, images: map[string]string{}}
	for i := range 25_000 {
		r.images[fmt.Sprint("image", i)] = strings.Repeat("l", 900)
	}
	return r, nil
}

func (r *registry) take(ctx context.Context, file []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return err
	}
	index, err := archive.ImportIndex(ctx, r.store, z)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.images["last"] = index.Digest.String()
	return nil
}

// image is an archive of one image with a layer of a few bytes, in the form of docker save, with
// so many MiB of blanks behind the manifest.
func image(blanks int) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	put := func(name, text string, more int) {
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text) + more<<20)}); err != nil {
			log.Fatal(err)
		}
		t.Write([]byte(text))
		for blanks := bytes.Repeat([]byte(" "), 1<<20); more > 0; more-- {
			t.Write(blanks)
		}
	}
	var layer bytes.Buffer
	tar.NewWriter(&layer).Close()
	put("config.json", `{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}`, 0)
	put("layer.tar", layer.String(), 0)
	put("manifest.json", `[{"Config":"config.json","RepoTags":["shop:1"],"Layers":["layer.tar"]}]`, blanks)
	t.Close()
	z.Close()
	return out.Bytes()
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	dir, err := os.MkdirTemp("", "images-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	r, err := newRegistry(dir)
	if err != nil {
		log.Fatal(err)
	}
	end, mu := time.Now().Add(*last), sync.Mutex{}
	var users sync.WaitGroup
	user := func(file []byte, every time.Duration) {
		refused := 0
		for ; time.Now().Before(end); time.Sleep(every) {
			if err := r.take(context.Background(), file); err != nil {
				refused++
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if refused > 0 {
			fmt.Println("refused", refused)
		}
	}
	users.Go(func() { user(image(0), 20*time.Millisecond) })
	large := image(48)
	for range 2 {
		users.Go(func() { user(large, 400*time.Millisecond) })
	}
	users.Wait()
}
