// Tokens caches what an identity provider said of a token, for 60 ms, in a cache of
// patrickmn/go-cache without a cleanup: an item that is over is not given out any
// more and not deleted either. Repaired, there is a cleanup.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/patrickmn/go-cache"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const lasts = 60 * time.Millisecond

type identity struct {
	subject string
	claims  []byte
}

type verifier struct{ verified *cache.Cache }

func main() {
	f := frame.Parse()
	var cleanup time.Duration // none
	if f.Repaired {
		cleanup = lasts / 3
	}
	v := &verifier{cache.New(lasts, cleanup)}
	f.Each(func(i int) { v.check(token(i), f.Unit) })
	f.Stay()
}

func token(i int) string {
	var raw [24]byte
	binary.LittleEndian.PutUint64(raw[8:], uint64(i))
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

func (v *verifier) check(token string, size int) *identity {
	if known, ok := v.verified.Get(token); ok {
		return known.(*identity)
	}
	who := ask(token, size)
	v.verified.Set(token, who, cache.DefaultExpiration) // truth: keeps
	return who
}

// ask asks the provider, which answers with all claims of the user.
func ask(token string, size int) *identity {
	return &identity{"user-" + token, frame.Touch(make([]byte, size))} // truth: allocates
}
