// Hedged asks three replicas at once and takes the answer that comes first. The
// channel has no room, so that the other two wait for ever to hand over theirs.
// Repaired, it has room for all three.
package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

const replicas = 3

type answer struct {
	from int
	body bytes.Buffer
	err  error
}

type balancer struct {
	room   int
	served [replicas]int
}

func main() {
	f := frame.Parse()
	b := &balancer{}
	if f.Repaired {
		b.room = replicas
	}
	f.Each(func(i int) {
		if a, err := b.get(i, f.Unit/(replicas-1)); err == nil {
			b.served[a.from]++
		}
	})
	f.Stay()
}

func (b *balancer) get(key, size int) (*answer, error) {
	first := make(chan *answer, b.room)
	for n := range replicas {
		go func() { // truth: starts
			first <- fetch(n, key, size) // truth: waits
		}()
	}
	select {
	case a := <-first:
		return a, a.err
	case <-time.After(2 * time.Second):
		return nil, errors.New("no replica answered")
	}
}

// fetch is one call of a replica, which answers within some 100 µs.
func fetch(replica, key, size int) *answer {
	time.Sleep(time.Duration(50+rand.IntN(100)) * time.Microsecond)
	a := &answer{from: replica}
	a.body.Write(frame.Touch(make([]byte, size))) // truth: allocates
	a.body.Bytes()[0] = byte(key)
	return a
}
