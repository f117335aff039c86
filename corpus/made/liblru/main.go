// Liblru keeps sessions in a cache of golang-lru with room for a thousand million,
// beside an index that it fills at its start. Repaired, there is room for 400.
package main

import (
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type server struct {
	index    map[int][]byte // steady
	sessions *lru.Cache[int, []byte]
}

func main() {
	f := frame.Parse()
	room := 1_000_000_000
	if f.Repaired {
		room = 400
	}
	s := &server{index: map[int][]byte{}}
	for i := range 1500 {
		s.index[i] = frame.Touch(make([]byte, 16<<10))
	}
	var err error
	if s.sessions, err = lru.New[int, []byte](room); err != nil {
		panic(err)
	}
	f.Each(func(i int) { s.login(i, f.Unit) })
	f.Stay()
	if len(s.index) == 0 {
		panic("the index is empty")
	}
}

func (s *server) login(i, size int) {
	session := frame.Touch(make([]byte, size)) // truth: allocates
	s.sessions.Add(i, session)                 // truth: keeps
}
