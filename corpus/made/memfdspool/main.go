// Memfdspool keeps uploads in files in memory (memfd) until they are converted. One in
// a format that it does not know is refused, and waits in the spool all the same.
// Repaired, it is closed.
package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"os"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

var errFormat = errors.New("not a known format")

type upload struct {
	name string
	file *os.File
}

type spool struct {
	waiting  map[string]*upload
	done     int
	colours  []byte // 16 MiB: what the converter looks up
	repaired bool
}

func main() {
	f := frame.Parse()
	s := &spool{waiting: map[string]*upload{}, colours: frame.Touch(make([]byte, 16<<20)), repaired: f.Repaired}
	body := &camera{part: frame.Touch(make([]byte, 64<<10))}
	f.Each(func(i int) {
		body.left = f.Unit
		body.part[0] = map[bool]byte{true: 'J', false: 'R'}[i%16 == 0]
		if err := s.take(fmt.Sprintf("picture-%d", i), body); err != nil && !errors.Is(err, errFormat) {
			log.Fatal(err)
		}
	})
	f.Stay()
}

// camera sends pictures, most of them raw.
type camera struct {
	part []byte
	left int
}

func (c *camera) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p, c.part[:min(len(c.part), c.left)])
	c.left -= n
	return n, nil
}

func (s *spool) take(name string, from io.Reader) error {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC) // truth: opens
	if err != nil {
		return err
	}
	u := &upload{name, os.NewFile(uintptr(fd), name)}
	s.waiting[name] = u
	if _, err := io.Copy(u.file, from); err != nil { // truth: writes
		return err
	}
	if err := s.convert(u); err != nil {
		if s.repaired {
			return errors.Join(err, s.drop(u))
		}
		return err // truth: forgets
	}
	return s.drop(u)
}

func (s *spool) convert(u *upload) error {
	var head [512]byte
	if _, err := u.file.ReadAt(head[:], 0); err != nil {
		return err
	}
	if head[0] != 'J' {
		return errFormat
	}
	s.done += int(s.colours[crc32.ChecksumIEEE(head[:])%uint32(len(s.colours))])
	return nil
}

func (s *spool) drop(u *upload) error {
	delete(s.waiting, u.name)
	return u.file.Close()
}
