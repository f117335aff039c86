// Zstd compresses each answer with a writer of its own, by DataDog's module, and closes none.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/DataDog/zstd"

	"example.com/nativelibs/places"
)

//go:embed main.go
var source string

// compressed is a body as a client takes it.
func compressed(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w := zstd.NewWriterLevel(&out, zstd.DefaultCompression) // truth: writer
	if _, err := w.Write(body); err != nil {                // truth: write
		return nil, err
	}
	if err := w.Flush(); err != nil { // truth: flush
		return nil, err
	}
	return out.Bytes(), nil
}

func serve() error {
	body := bytes.Repeat([]byte("the same answer, some of it again; "), 4000)
	for n := range 400 {
		if _, err := compressed(fmt.Appendf(body[:len(body):len(body)], "%d", n)); err != nil && err != io.EOF {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(1500 * time.Millisecond)
	return nil
}

func main() {
	places.Tell(source)
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
