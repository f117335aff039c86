// Auditbuf signs what its clients upload, as one stream for each connection. What is
// hashed is also written to a buffer, for a dispute, and that of the one connection which
// never ends is never emptied. Repaired, it is handed over after 400 parts.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"io"
	"log"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

// stream is one connection.
type stream struct {
	sum   hash.Hash
	trail bytes.Buffer
	into  io.Writer
	parts int
}

type signer struct {
	open   map[string]*stream
	handed int // bytes that an archive took
	flush  bool
	keys   [][]byte // 16 MiB of certificates
}

func newSigner(flush bool) *signer {
	s := &signer{open: map[string]*stream{}, flush: flush}
	for range 16 << 8 {
		s.keys = append(s.keys, frame.Touch(make([]byte, 4<<10)))
	}
	return s
}

func (s *signer) of(name string) *stream {
	if c := s.open[name]; c != nil {
		return c
	}
	c := &stream{sum: sha256.New()}
	c.into = io.MultiWriter(c.sum, &c.trail)
	s.open[name] = c
	return c
}

func (s *signer) take(name string, part io.Reader) (err error) {
	c := s.of(name)
	if _, err = io.Copy(c.into, part); err != nil { // truth: grows
		return err
	}
	if c.parts++; s.flush && c.parts%400 == 0 {
		s.handed += c.trail.Len()
		c.trail = bytes.Buffer{}
	}
	return nil
}

// end gives the signature of a connection.
func (s *signer) end(name string) string {
	c := s.of(name)
	delete(s.open, name)
	key := s.keys[int(crc32.ChecksumIEEE([]byte(name)))%len(s.keys)]
	return hex.EncodeToString(c.sum.Sum(key[:8]))
}

func main() {
	f := frame.Parse()
	s, part := newSigner(f.Repaired), frame.Touch(make([]byte, f.Unit))
	signed := 0
	f.Each(func(i int) {
		if err := s.take("backup", bytes.NewReader(part)); err != nil {
			log.Fatal(err)
		}
		if i%5 == 0 { // a short one
			if err := s.take("letter", bytes.NewReader(part[:min(len(part), 512)])); err != nil {
				log.Fatal(err)
			}
			signed += len(s.end("letter"))
		}
	})
	f.Stay()
	log.Print(signed, s.handed)
}
