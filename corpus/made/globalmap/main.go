// Globalmap keeps a session for every visit in a global map, and forgets none.
// Repaired, a session goes when the 500 visits after it have come.
package main

import (
	"strconv"

	"github.com/highwater-go/highwater/corpus/made/frame"
)

type session struct {
	id   string
	data []byte
}

var sessions = map[string]*session{}

func main() {
	f := frame.Parse()
	f.Each(func(i int) {
		visit(i, f.Unit)
		if f.Repaired {
			delete(sessions, key(i-500))
		}
	})
	f.Stay()
}

func visit(i, size int) {
	s := &session{id: key(i), data: make([]byte, size)} // truth: allocates
	frame.Touch(s.data)
	sessions[s.id] = s // truth: keeps
}

func key(i int) string { return "session-" + strconv.Itoa(i) }
