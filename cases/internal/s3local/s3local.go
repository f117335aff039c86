// Package s3local is an S3-compatible store on loopback for the programs that
// write to one: gofakes3 in front of memory. It can forget the bytes of what it
// is given, so that gigabytes can be written to it, and it can refuse.
package s3local

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Object is what is known of an object that was stored.
type Object struct {
	Key    string
	Bytes  int64
	SHA256 string
}

// Store is a store with one bucket. It serves the API of S3 with the bucket in
// the path; signatures are not checked.
type Store struct {
	http.Handler
	memory  *s3mem.Backend
	bucket  string
	forget  bool
	refuses atomic.Bool

	mu      sync.Mutex
	objects []Object
}

// New makes a store. One that forgets keeps the size and the hash of an object,
// and an empty object in its place.
func New(bucket string, forget bool) (*Store, error) {
	s := &Store{memory: s3mem.New(), bucket: bucket, forget: forget}
	if err := s.memory.CreateBucket(bucket); err != nil {
		return nil, fmt.Errorf("create bucket %s: %w", bucket, err)
	}
	api := gofakes3.New(&backend{Backend: s.memory, store: s}, gofakes3.WithoutVersioning()).Server()
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.refuses.Load() {
			http.Error(w, "the store takes nothing", http.StatusServiceUnavailable)
			return
		}
		api.ServeHTTP(w, r)
	})
	return s, nil
}

// Refuse makes the store answer every request with 503, or serve again.
func (s *Store) Refuse(refuse bool) { s.refuses.Store(refuse) }

// Objects returns what was stored so far, in the order of arrival.
func (s *Store) Objects() []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Object{}, s.objects...)
}

// Get returns the content of an object of a store that does not forget.
func (s *Store) Get(key string) ([]byte, error) {
	object, err := s.memory.GetObject(s.bucket, key, nil)
	if err != nil {
		return nil, err
	}
	defer object.Contents.Close()
	return io.ReadAll(object.Contents)
}

// backend notes each object on its way to memory.
type backend struct {
	*s3mem.Backend
	store *Store
}

func (b *backend) PutObject(bucket, key string, meta map[string]string, input io.Reader, size int64,
	conditions *gofakes3.PutConditions) (gofakes3.PutObjectResult, error) {
	hash := sha256.New()
	count := new(counter)
	input = io.TeeReader(input, io.MultiWriter(hash, count))
	kept := size
	if b.store.forget {
		if _, err := io.Copy(io.Discard, input); err != nil {
			return gofakes3.PutObjectResult{}, err
		}
		if count.n != size {
			return gofakes3.PutObjectResult{}, gofakes3.ErrIncompleteBody
		}
		kept = 0
	}
	result, err := b.Backend.PutObject(bucket, key, meta, input, kept, conditions)
	if err != nil {
		return result, err
	}
	b.store.mu.Lock()
	defer b.store.mu.Unlock()
	b.store.objects = append(b.store.objects, Object{key, count.n, hex.EncodeToString(hash.Sum(nil))})
	return result, nil
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
