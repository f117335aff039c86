package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
)

// A heap of two shapes, half of the objects each: a tree of nodes with a block of
// bytes, and a cache of sessions that a map and a list lead to. Some 85 bytes an
// object.
type (
	block struct {
		left, right *block
		data        []byte
	}
	session struct {
		key          string
		newer, older *session
		owner        *account
		body         []byte
		roles        []*string
	}
	account struct {
		name     *string
		sessions int
	}
)

var (
	root           *block
	cache          map[string]*session
	newest, oldest *session
)

// makeHeap allocates so many objects, keeps them, and says how many there are.
func makeHeap(objects int) {
	debug.SetGCPercent(20)
	root = plant(objects / 4)
	fillCache(objects / 10)
	sayHeap()
}

// sayHeap says how many objects live, and their bytes.
func sayHeap() {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	fmt.Println("heap", m.HeapObjects, m.HeapAlloc)
}

var held map[string]*block

// makeMap keeps so many objects that nothing but one map leads to: keys, blocks and
// their data.
func makeMap(objects int) {
	held = make(map[string]*block)
	for i := range objects / 3 {
		held["request-"+strconv.Itoa(i)] = &block{data: make([]byte, 176)}
	}
	sayHeap()
}

func plant(n int) *block {
	if n == 0 {
		return nil
	}
	n--
	return &block{left: plant(n / 2), right: plant(n - n/2), data: make([]byte, 176)}
}

// fillCache makes n sessions of five objects: key, session, body, roles, and the
// session's own role; ten share an account.
func fillCache(n int) {
	cache = make(map[string]*session)
	for i := range n {
		addSession(i)
	}
}

var owner *account

func addSession(i int) {
	if i%10 == 0 {
		name := "account " + strconv.Itoa(i)
		owner = &account{name: &name}
	}
	own := "role"
	s := &session{key: "session-" + strconv.Itoa(i), older: newest, owner: owner, body: make([]byte, 96), roles: []*string{&own, owner.name}}
	if newest != nil {
		newest.newer = s
	} else {
		oldest = s
	}
	owner.sessions++
	newest, cache[s.key] = s, s
}

// changeCache puts new sessions in the place of the oldest, without end.
func changeCache() {
	for i := len(cache); ; i++ {
		delete(cache, oldest.key)
		oldest = oldest.newer
		oldest.older = nil
		addSession(i)
	}
}
