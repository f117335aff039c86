package recording

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"modernc.org/sqlite/vfs"
)

// pages are a finished recording's as SQLite reads them: each is compared with its
// checksum first, and one that is another than was written cannot be read. A file
// without checksums is read as it is.
type pages struct {
	file  *os.File
	size  int64 // bytes in whole pages
	sums  *sums // nil: not protected
	wrong error // the first page that was found to be another

	name  string // by which SQLite knows them
	known *vfs.FS
	page  []byte // reused
}

// pagesName is the one file that there is.
const pagesName = "/recording"

// openPages takes the file over, also where it fails.
func openPages(f *os.File, size int64, s *sums) (p *pages, err error) {
	p = &pages{file: f, size: size, sums: s}
	if s != nil {
		p.page = make([]byte, s.page)
	}
	if p.name, p.known, err = vfs.New(p); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

// close is called once SQLite has closed the file.
func (p *pages) close() error { return errors.Join(p.known.Close(), p.file.Close()) }

// Open is how SQLite opens the recording, and looks for a journal.
func (p *pages) Open(name string) (fs.File, error) {
	if name != pagesName {
		return nil, fs.ErrNotExist
	}
	return &pagesReader{pages: p}, nil
}

// check reads all pages.
func (p *pages) check() error {
	for at := int64(0); p.sums != nil && at < p.size; at += p.sums.page {
		if _, err := p.readPage(at); err != nil {
			return err
		}
	}
	return p.wrong
}

// readPage is the page at an offset, valid until the next call. The first one is read
// although it differs, or nothing could be: what it says, the schema, must be ours.
func (p *pages) readPage(at int64) ([]byte, error) {
	if _, err := p.file.ReadAt(p.page, at); err != nil {
		return nil, err
	}
	if n := at / p.sums.page; p.sums.wrong(n, p.page) {
		err := fmt.Errorf("page %d of %d has a wrong checksum", n+1, p.sums.pages())
		if p.wrong == nil {
			p.wrong = err
		}
		if n > 0 {
			return nil, err
		}
	}
	return p.page, nil
}

// readAt reads any stretch of the pages.
func (p *pages) readAt(b []byte, at int64) (n int, err error) {
	if at < 0 || at >= p.size {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), p.size-at)]
	if p.sums == nil {
		return p.file.ReadAt(b, at)
	}
	for n < len(b) {
		within := (at + int64(n)) % p.sums.page
		page, err := p.readPage(at + int64(n) - within)
		if err != nil {
			return n, err
		}
		n += copy(b[n:], page[within:])
	}
	return n, nil
}

// pagesReader is the file as SQLite has it open, and what is known of it.
type pagesReader struct {
	*pages
	at int64
}

func (r *pagesReader) Stat() (fs.FileInfo, error) { return r, nil }
func (r *pagesReader) Close() error               { return nil }

func (r *pagesReader) Seek(at int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.ErrUnsupported
	}
	r.at = at
	return at, nil
}

func (r *pagesReader) Read(b []byte) (int, error) {
	n, err := r.readAt(b, r.at)
	r.at += int64(n)
	return n, err
}

func (r *pagesReader) Name() string       { return pagesName }
func (r *pagesReader) Size() int64        { return r.size }
func (r *pagesReader) Mode() fs.FileMode  { return 0o400 }
func (r *pagesReader) ModTime() time.Time { return time.Time{} }
func (r *pagesReader) IsDir() bool        { return false }
func (r *pagesReader) Sys() any           { return nil }
