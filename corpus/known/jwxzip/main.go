// Jwxzip is a document store: clients put documents that are encrypted for it (JWE) and it keeps
// the digest of each of the last. Some documents are small only because they are compressed.
package main

import (
	"crypto/rand"
	"crypto/sha256"
	"flag"
	"log"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwe"
)

type entry struct {
	digest [32]byte
	name   string
	tags   []string
}

// store has a place for each of the last 150,000 documents, about 30 MiB: all taken from the start.
type store struct {
	key     []byte
	mu      sync.Mutex
	entries []*entry
	next    int
}

func newStore() *store {
	s := &store{key: make([]byte, 32)}
	rand.Read(s.key)
	for range 150_000 {
		s.entries = append(s.entries, &entry{tags: make([]string, 8)})
	}
	return s
}

func (s *store) put(sealed []byte) error {
	plain, err := jwe.Decrypt(sealed, jwe.WithKey(jwa.DIRECT, s.key))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(plain)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = (s.next + 1) % len(s.entries)
	s.entries[s.next] = &entry{digest: sum, name: "document", tags: make([]string, 8)}
	return nil
}

func (s *store) seal(plain []byte) []byte {
	sealed, err := jwe.Encrypt(plain, jwe.WithKey(jwa.DIRECT, s.key),
		jwe.WithContentEncryption(jwa.A256GCM), jwe.WithCompress(jwa.Deflate))
	if err != nil {
		log.Fatal(err)
	}
	return sealed
}

func (s *store) client(sealed []byte, every time.Duration, end time.Time) {
	refused := 0
	for time.Now().Before(end) {
		if err := s.put(sealed); err != nil {
			refused++
		}
		time.Sleep(every)
	}
	if refused > 0 {
		log.Printf("%d documents refused", refused)
	}
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	s := newStore()
	small, large := s.seal(make([]byte, 4000)), s.seal(make([]byte, 32<<20))
	end := time.Now().Add(*last)
	var clients sync.WaitGroup
	clients.Go(func() { s.client(small, time.Millisecond, end) })
	for range 2 {
		clients.Go(func() { s.client(large, 700*time.Millisecond, end) })
	}
	clients.Wait()
}
