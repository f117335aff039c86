package web

import (
	"errors"
	"os"
	"sync"

	"github.com/highwater-go/highwater/internal/record/recording"
)

// desk is where one reader of a recording sits: one request after the other uses
// it. That of a finished recording is kept, with what it has listed, until the
// file is gone; one that is being written is opened anew for each.
type desk struct {
	mu     sync.Mutex
	reader *recording.Reader
	file   os.FileInfo
}

// opener opens a recording.
type opener func(path string) (*recording.Reader, error)

// opener is how this book is read.
func (b *Book) opener() opener {
	if b.Redact {
		return recording.OpenRedacted
	}
	return recording.Open
}

func (d *desk) read(open opener, path string, use func(*recording.Reader) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(open, path); err != nil {
		return err
	}
	live, ended := d.reader.Live(), false
	defer func() {
		if !ended { // it panicked: who knows what the reader is good for
			_ = d.leave()
		}
	}()
	err := use(d.reader)
	ended = true
	if live || err != nil {
		return errors.Join(err, d.leave())
	}
	return nil
}

func (d *desk) open(open opener, path string) error {
	file, err := os.Stat(path)
	if err == nil && d.reader != nil && os.SameFile(file, d.file) {
		return nil
	}
	if err := errors.Join(err, d.leave()); err != nil {
		return err
	}
	d.file = file
	d.reader, err = open(path)
	return err
}

func (d *desk) leave() error {
	if d.reader == nil {
		return nil
	}
	err := d.reader.Close()
	d.reader = nil
	return err
}

func (d *desk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.leave()
}

// Close releases the recording. The book can be read again: it is opened anew.
func (b *Book) Close() error { return errors.Join(b.main.close(), b.course.close()) }

// Warm reads what the page asks for first, while the browser that will ask is
// still starting. What fails, or panics, does so again when it is asked for, and is
// said then.
func (b *Book) Warm() {
	defer func() { _ = recover() }()
	o, err := b.Overview()
	if err != nil || o.Live {
		return
	}
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		defer func() { _ = recover() }()
		_, _ = b.Timeline(o.From, o.until(), overviewSteps)
	}()
	_, _ = b.Instant("", "")
	<-drawn
}
