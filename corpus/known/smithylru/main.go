// Smithylru signs requests for three stores with credentials that are good for a moment, in the cache
// of the least recently used that the SDK's clients have. It keeps the requests' names, 25 MiB.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/aws/smithy-go/container/private/cache"
	"github.com/aws/smithy-go/container/private/cache/lru"
)

// credentials are good until they expire; the token is what a store gives out.
type credentials struct {
	key     []byte
	token   string
	expires time.Time
}

type signer struct {
	known cache.Cache
	names [25_000]string
}

func newSigner() *signer {
	s := &signer{known: lru.New(100)}
	for i := range s.names {
		s.names[i] = strings.Repeat("n", 1000)
	}
	return s
}

// session has the credentials for a store, new ones where the old are no longer good.
func (s *signer) session(store string) *credentials {
	if old, ok := s.known.Get(store); ok {
		if c := old.(*credentials); time.Now().Before(c.expires) {
			return c
		}
	}
	c := fresh(store)
	s.known.Put(store, c)
	return c
}

// fresh are credentials that a store gave out just now.
func fresh(store string) *credentials {
	return &credentials{[]byte(store), strings.Repeat(store, 1000), time.Now().Add(4 * time.Millisecond)}
}

func (s *signer) sign(n int) []byte {
	c := s.session(fmt.Sprint("store-", n%3))
	mac := hmac.New(sha256.New, c.key)
	mac.Write([]byte(s.names[n%len(s.names)]))
	mac.Write([]byte(c.token))
	return mac.Sum(nil)
}

func main() {
	last := flag.Duration("for", 25*time.Second, "how long the load lasts")
	flag.Parse()
	s := newSigner()
	end, tick := time.Now().Add(*last), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; time.Now().Before(end); n++ {
		<-tick.C
		for i := range 3 {
			if len(s.sign(3*n+i)) == 0 {
				log.Fatal("no signature")
			}
		}
	}
}
