package frame

import (
	"encoding/json"
	"io"
	"log"
	"os"
	"strconv"
	"time"
)

// The sizes of the backgrounds, in bytes. A runner counts with them.
const (
	CacheBytes = 40 << 20 // live, from the start
	FileBytes  = 64 << 20 // page cache
)

// products is the steady cache: filled before the work begins, asked ever after.
var products map[string][]byte

func (f *Frame) startBackground() {
	switch f.Background {
	case "none":
	case "cache":
		fillProducts()
		go askProducts()
	case "json":
		go makeReports()
	case "pagecache":
		go readArchive()
	default:
		log.Fatalf("no background %q: give none, cache, json or pagecache", f.Background)
	}
}

func fillProducts() {
	const each = 20 << 10
	products = make(map[string][]byte, CacheBytes/each)
	for i := range CacheBytes / each {
		products["product-"+strconv.Itoa(i)] = Touch(make([]byte, each))
	}
}

func askProducts() {
	for i := 0; ; i++ {
		if len(products["product-"+strconv.Itoa(i%len(products))]) == 0 {
			log.Fatal("the cache of products lost one")
		}
		time.Sleep(time.Millisecond)
	}
}

type report struct {
	Name   string
	Values []float64
	Tags   map[string]string
}

// makeReports makes garbage as servers do: some MiB a second, none of it kept.
func makeReports() {
	r := report{Name: "daily", Tags: map[string]string{"zone": "north", "kind": "sum"}}
	for i := range 2000 {
		r.Values = append(r.Values, float64(i)*1.25)
	}
	for {
		text, err := json.Marshal(&r)
		if err != nil {
			log.Fatal(err)
		}
		var back report
		if err := json.Unmarshal(text, &back); err != nil {
			log.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// readArchive reads a file of FileBytes again and again, a MiB at a time. The
// file has no name any more, so that it ends with the program.
func readArchive() {
	file, err := os.CreateTemp(".", "archive-")
	if err != nil {
		log.Fatal(err)
	}
	os.Remove(file.Name())
	part := Touch(make([]byte, 1<<20))
	for range FileBytes >> 20 {
		if _, err := file.Write(part); err != nil {
			log.Fatal(err)
		}
	}
	for offset := int64(0); ; offset = (offset + int64(len(part))) % FileBytes {
		if _, err := file.ReadAt(part, offset); err != nil && err != io.EOF {
			log.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
