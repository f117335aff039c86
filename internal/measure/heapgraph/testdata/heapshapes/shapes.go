package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

// shapes are built by name with a number of elements. All but those of goroutines
// hang on a variable of their own.
var shapes = map[string]func(n int){
	"map":       func(n int) { cache = newStore(n) },
	"intmap":    func(n int) { counts = newCounts(n) },
	"slice":     func(n int) { orders = newOrders(n) },
	"queue":     resliced,
	"list":      func(n int) { head = newList(n) },
	"tree":      func(n int) { top = newTree(n) },
	"strings":   func(n int) { names = newNames(n) },
	"substring": substrings,
	"channel":   channel,
	"blocks":    blocks,
	"interface": interfaces,
	"closure":   closures,
	"pool":      pool,
	"lent":      func(n int) { lend(&lent, n) },
	"lentby":    func(n int) { lend(&lenders[0].pool, n) },
	"finalizer": finalizers,
	"timers":    timers,
	"context":   contexts,
	"lru":       func(n int) { recent = newLRU(n) },
	"blocked":   blocked,
	"shared":    shared,
	"defers":    defers,
	"dense":     dense,
	"folder":    func(n int) { files = newFolder(n) },
	"twocaches": func(n int) { small, large = newStore(n/4), newStore(n) },
}

// late are the shapes that the collections before a measurement take away: they are
// built again after it.
var late = map[string]bool{"pool": true, "lent": true, "lentby": true}

// drop lets go of every shape.
func drop() {
	cache, counts, orders, queue, head, top, names, tokens = nil, nil, nil, nil, nil, nil, nil, nil
	results, animals, callbacks, buffers, ring, chain, recent, pending = nil, nil, nil, nil, nil, nil, nil, nil
	orderings, files, small, large = nil, nil, nil, nil
}

type entry struct {
	key  string
	body []byte
	hits [6]int
}

type store struct {
	name    string
	entries map[string]*entry
}

var cache, small, large *store

func newStore(n int) *store {
	s := &store{name: "store", entries: make(map[string]*entry)}
	for i := 0; i < n; i++ {
		key := fmt.Sprintf("request-%08d", i)
		s.entries[key] = &entry{key: key, body: make([]byte, 500)}
	}
	return s
}

var counts map[int64]int64

func newCounts(n int) map[int64]int64 {
	m := make(map[int64]int64)
	for i := 0; i < n; i++ {
		m[int64(i)] = 1
	}
	return m
}

type order struct {
	id    int
	lines []line
}

type line struct {
	product *string
	amount  int
}

var orders []order

func newOrders(n int) []order {
	all := make([]order, n)
	for i := range all {
		product := strings.Clone("a product")
		all[i] = order{i, []line{{&product, 1}, {&product, 2}}}
	}
	return all
}

type message struct {
	payload [20]uint64
	next    *message
}

var queue []*message

// resliced is a queue whose head is cut off: the array keeps what was taken.
func resliced(n int) {
	queue = make([]*message, n)
	for i := range queue {
		queue[i] = new(message)
	}
	queue = queue[n-min2(n, 10):]
}

func min2(a, b int) int {
	if a < b {
		return a
	}
	return b
}

type node struct {
	next, prev *node
	value      [4]int
}

var head *node

func newList(n int) *node {
	var h *node
	for i := 0; i < n; i++ {
		h = &node{next: h}
		if h.next != nil {
			h.next.prev = h
		}
	}
	return h
}

type branch struct {
	left, right *branch
	data        []byte
}

var top *branch

func newTree(n int) *branch {
	if n <= 0 {
		return nil
	}
	return &branch{newTree((n - 1) / 2), newTree((n - 1) / 2), make([]byte, 32)}
}

var names []string

func newNames(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("the name of number %d", i)
	}
	return all
}

var tokens []string

// substrings keep a few bytes of a large body each.
func substrings(n int) {
	for i := 0; i < n; i++ {
		body := strings.Repeat("x", 16<<10)
		tokens = append(tokens, body[100:110])
	}
}

var results chan *entry

// block is a part of a file that is read ahead of whoever unpacks it.
type block struct {
	number int
	data   []byte
}

// blocks are few and large, in a channel that two goroutines have in a variable.
func blocks(n int) {
	c := make(chan *block, n/100)
	go func() {
		for i := 0; ; i++ {
			c <- &block{i, make([]byte, 64<<10)}
		}
	}()
	go func() {
		for len(c) < cap(c) {
			time.Sleep(time.Millisecond)
		}
		<-never
		<-c
	}()
	for len(c) < cap(c) {
		time.Sleep(time.Millisecond)
	}
}

func channel(n int) {
	results = make(chan *entry, n)
	for i := 0; i < n; i++ {
		results <- &entry{body: make([]byte, 100)}
	}
}

type animal interface{ sound() string }

type dog struct{ name *string }

type cat struct {
	name  string
	lives [8]int
}

func (d dog) sound() string  { return *d.name }
func (c *cat) sound() string { return c.name }

var animals []animal

func interfaces(n int) {
	for i := 0; i < n; i++ {
		name := strings.Clone("an animal's name")
		animals = append(animals, dog{&name}, &cat{name: name})
	}
}

var callbacks []func() int

func closures(n int) {
	for i := 0; i < n; i++ {
		big := make([]byte, 200)
		callbacks = append(callbacks, func() int { return len(big) + i })
	}
}

var buffers *sync.Pool

func pool(n int) {
	buffers = &sync.Pool{New: func() any { return new([4096]byte) }}
	all := make([]any, n)
	for i := range all {
		all[i] = buffers.Get()
	}
	for _, b := range all {
		buffers.Put(b)
	}
}

// A pool has a buffer that knows the store for which it was used, and which a goroutine has.
var (
	lent    sync.Pool
	lenders = []*lender{{name: "the first"}}
)

type lender struct {
	name string
	pool sync.Pool
}

type borrowed struct {
	by   *store
	data [64]byte
}

func lend(pool *sync.Pool, n int) {
	ready, never := make(chan bool), make(chan int)
	go keep(pool, newStore(n), ready, never)
	<-ready
}

func keep(pool *sync.Pool, s *store, ready chan<- bool, never <-chan int) {
	pool.Put(&borrowed{by: s})
	ready <- true
	<-never
	runtime.KeepAlive(s)
}

type resource struct {
	peer *resource
	data []byte
}

var ring *resource

func finalizers(n int) {
	for i := 0; i < n; i++ {
		r := &resource{peer: ring, data: make([]byte, 64)}
		runtime.SetFinalizer(r, func(*resource) {})
		ring = r
	}
}

var pending []*time.Timer

func timers(n int) {
	for i := 0; i < n; i++ {
		state := make([]byte, 256)
		time.AfterFunc(time.Hour, func() { state[0]++ })
	}
}

var chain context.Context

type contextKey int

func contexts(n int) {
	chain = context.Background()
	for i := 0; i < n; i++ {
		chain = context.WithValue(chain, contextKey(i), make([]byte, 128))
	}
}

// lru is a cache that does not trim: a list and an index of it.
type lru struct {
	index       map[string]*item
	first, last *item
}

type item struct {
	key          string
	value        []byte
	newer, older *item
}

var recent *lru

func newLRU(n int) *lru {
	l := &lru{index: make(map[string]*item)}
	for i := 0; i < n; i++ {
		it := &item{key: fmt.Sprintf("key-%08d", i), value: make([]byte, 300), older: l.first}
		if l.first != nil {
			l.first.newer = it
		} else {
			l.last = it
		}
		l.first, l.index[it.key] = it, it
	}
	return l
}

// blocked is goroutines that wait for ever, each with a buffer on its stack.
func blocked(n int) {
	if n == 1 {
		return // they cannot be dropped
	}
	ready := make(chan bool)
	never := make(chan int)
	for i := 0; i < n; i++ {
		go wait(ready, never)
	}
	for i := 0; i < n; i++ {
		<-ready
	}
	time.Sleep(50 * time.Millisecond)
}

func wait(ready chan<- bool, never <-chan int) {
	buffer := make([]byte, 10<<10)
	ready <- true
	v := <-never
	buffer[v]++
	runtime.KeepAlive(buffer)
}

// shared is one list that many goroutines of one function hold, and one of another
// function, which was there first.
func shared(n int) {
	if n == 1 {
		return
	}
	list := newList(n)
	ready := make(chan bool)
	accept(list, ready)
	for i := 0; i < 20; i++ {
		serve(list, ready)
	}
}

func accept(list *node, ready chan bool) {
	go func() {
		waitForEver(ready)
		runtime.KeepAlive(list)
	}()
	<-ready
}

func serve(list *node, ready chan bool) {
	go func() {
		waitForEver(ready)
		runtime.KeepAlive(list)
	}()
	<-ready
}

// waitForEver keeps its caller from going on, once it has said that it is there.
func waitForEver(ready chan<- bool) {
	ready <- true
	<-never
}

var never chan bool

// defers is a loop that defers without an end, in a goroutine.
func defers(n int) {
	if n == 1 {
		return
	}
	ready := make(chan bool)
	go func() {
		for i := 0; i < n; i++ {
			b := make([]byte, 64)
			defer func() { b[0]++ }()
		}
		ready <- true
		select {}
	}()
	<-ready
}

type folder struct {
	name string
	in   map[string]*folder
}

var files *folder

// newFolder is one whose map alone holds n others of its type.
func newFolder(n int) *folder {
	f := &folder{name: "all", in: make(map[string]*folder)}
	for i := 0; i < n; i++ {
		name := fmt.Sprintf("file-%08d", i)
		f.in[name] = &folder{name: name}
	}
	return f
}

type ordered struct {
	next *ordered
	tag  *[4]int64
}

var orderings [][]*ordered

// dense is items in a hundred orders: far more pointers than objects.
func dense(n int) {
	items := make([]*ordered, n)
	for i := range items {
		items[i] = &ordered{tag: new([4]int64)}
	}
	for k := 0; k < 100; k++ {
		order := make([]*ordered, n)
		for i := range order {
			order[i] = items[(i*7919+k)%n]
		}
		orderings = append(orderings, order)
	}
}
