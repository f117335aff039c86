package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"testprog/truth"
)

// distract starts what is innocent. A name that it does not know does nothing.
func distract(name string, end time.Time) {
	switch name {
	case "cache":
		keepCache()
		go readCache(end)
	case "json":
		go makeGarbage(end)
	case "file":
		go writeFile(end)
	}
}

// cache is full from the start, and stays.
var cache map[int][]byte

func keepCache() {
	cache = make(map[int][]byte)
	for i := range 640 {
		cache[i] = make([]byte, 64*truth.KiB)
		truth.Touch(cache[i])
	}
}

func readCache(end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		_ = append([]byte(nil), cache[n%640]...)
		time.Sleep(time.Millisecond)
	}
}

type order struct {
	ID    int
	Items []map[string]any
}

// makeGarbage reads and writes JSON, some ten MiB a second.
func makeGarbage(end time.Time) {
	o := order{Items: make([]map[string]any, 40)}
	for i := range o.Items {
		o.Items[i] = map[string]any{"name": "thing", "price": 1.5, "count": i}
	}
	for ; time.Now().Before(end); o.ID++ {
		text, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		var back order
		if err := json.Unmarshal(text, &back); err != nil {
			panic(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// writeFile fills the page cache, and begins anew at 64 MiB.
func writeFile(end time.Time) {
	dir, err := os.MkdirTemp(".", "causes-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		panic(err)
	}
	defer f.Close()
	line := make([]byte, 256*truth.KiB)
	for n := 0; time.Now().Before(end); n++ {
		if _, err := f.WriteAt(line, int64(n%256)*int64(len(line))); err != nil {
			panic(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
