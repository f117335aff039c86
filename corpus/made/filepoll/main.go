// Filepoll watches the folder that a scanner writes into, with fsnotify, and keeps the text
// of each file, to tell what has changed in it. It keeps it by the file's path and deletes
// it by the file's name when the file is gone. Repaired, by its path.
package main

import (
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type snapshot struct {
	sum  uint32
	text []byte
}

type inbox struct {
	watcher  *fsnotify.Watcher
	texts    map[string]*snapshot
	byPath   bool
	took     chan string
	removed  chan string
	patterns [][]byte // 12 MiB
}

func open(dir string, byPath bool) (*inbox, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	b := &inbox{watcher: w, texts: map[string]*snapshot{}, byPath: byPath, took: make(chan string, 16), removed: make(chan string, 16)}
	for range 12 << 7 {
		b.patterns = append(b.patterns, frame.Touch(make([]byte, 8<<10)))
	}
	go b.follow()
	return b, w.Add(dir)
}

func (b *inbox) follow() {
	for e := range b.watcher.Events {
		switch {
		case e.Has(fsnotify.Write):
			if err := b.read(e.Name); err != nil {
				log.Print(err)
			}
			b.took <- e.Name
		case e.Has(fsnotify.Remove):
			b.forget(e.Name)
			b.removed <- e.Name
		}
	}
}

func (b *inbox) read(path string) error {
	text, err := os.ReadFile(path) // truth: allocates
	if err != nil {
		return err
	}
	sum := crc32.ChecksumIEEE(text)
	if old := b.texts[path]; old == nil || old.sum != sum {
		b.texts[path] = &snapshot{sum, text} // truth: keeps
	}
	return nil
}

func (b *inbox) forget(path string) {
	if b.byPath {
		delete(b.texts, path)
		return
	}
	delete(b.texts, filepath.Base(path))
}

func main() {
	f := frame.Parse()
	dir, err := os.MkdirTemp(".", "inbox-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	b, err := open(dir, f.Repaired)
	if err != nil {
		log.Fatal(err)
	}
	page := frame.Touch(make([]byte, f.Unit))
	f.Each(func(i int) {
		path := filepath.Join(dir, fmt.Sprintf("scan-%07d.txt", i))
		if err := os.WriteFile(path, page, 0o600); err != nil {
			log.Fatal(err)
		}
		<-b.took
		if err := os.Remove(path); err != nil {
			log.Fatal(err)
		}
		<-b.removed
	})
	f.Stay()
}
