// Command retainers makes one fault of retention, as servers have them: what comes is kept
// and never given up, in a place that its source has a name for. It says "ready" and waits
// for the end of its input. All of it is the standard library.
//
//	retainers FAULT N
package main

import (
	"bytes"
	"container/list"
	"container/ring"
	"context"
	"expvar"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// faults are by name; each keeps n things of a kilobyte.
var faults = map[string]func(n int){
	"mux":      handlers,
	"syncmap":  func(n int) { users = newUsers(n) },
	"list":     func(n int) { feed = newFeed(n) },
	"ring":     func(n int) { last = newTrace(n) },
	"context":  chained,
	"queue":    func(n int) { workers = newPool(n) },
	"atomic":   published,
	"buffer":   recorded,
	"shards":   func(n int) { index = newIndex(n) },
	"embedded": func(n int) { app.tenants.load(n) },
	"iface":    func(n int) { backend = newBackend(n) },
	"expvar":   counted,
	"log":      logged,
	"timer":    reminded,
	"blocked":  blocked,
	"frame":    serving,
	"captured": subscribed,
	"generic":  func(n int) { pages = newCache[string](n) },
	"nested":   func(n int) { tree = newRegion(n) },
	"slice":    func(n int) { audit.log(n) },
	"inhand":   answering,
	"called":   visiting,
	"outbox":   posting,
	"circle":   spooling,
	"changes":  changing,
}

func main() {
	n, err := strconv.Atoi(os.Args[2])
	fault := faults[os.Args[1]]
	if err != nil || fault == nil {
		os.Stderr.WriteString("no such fault\n")
		os.Exit(2)
	}
	fault(n)
	runtime.GC()
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
}

type session struct {
	user string
	body []byte
}

func newSession(i int) *session {
	return &session{user: fmt.Sprintf("user-%06d", i), body: make([]byte, 1000)}
}

// store is reached through its handler alone, a method value.
type store struct {
	mu       sync.Mutex
	sessions map[string]*session
}

func (s *store) login(w http.ResponseWriter, r *http.Request) {
	s.add(len(s.sessions))
	fmt.Fprintln(w, r.URL)
}

func (s *store) add(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := newSession(i)
	s.sessions[v.user] = v
}

func handlers(n int) {
	s := &store{sessions: make(map[string]*session)}
	http.HandleFunc("/login", s.login)
	for i := 0; i < n; i++ {
		s.add(i)
	}
}

type registry struct {
	name  string
	users sync.Map
}

var users *registry

func newUsers(n int) *registry {
	r := &registry{name: "users"}
	for i := 0; i < n; i++ {
		r.users.Store(i, newSession(i))
	}
	return r
}

type timeline struct {
	posts *list.List
	seen  int
}

var feed *timeline

func newFeed(n int) *timeline {
	t := &timeline{posts: list.New()}
	for i := 0; i < n; i++ {
		t.posts.PushFront(newSession(i))
	}
	return t
}

type tracer struct {
	spans *ring.Ring
	name  string
}

var last *tracer

func newTrace(n int) *tracer {
	t := &tracer{spans: ring.New(n)}
	for i := 0; i < n; i++ {
		t.spans.Value = newSession(i)
		t.spans = t.spans.Next()
	}
	return t
}

type request struct {
	ctx context.Context
	id  int
}

var current *request

type key int

// chained wraps one context by another for every request.
func chained(n int) {
	current = &request{ctx: context.Background()}
	for i := 0; i < n; i++ {
		current.ctx = context.WithValue(current.ctx, key(i), newSession(i))
	}
}

type job struct {
	id      int
	payload []byte
}

type pool struct {
	jobs chan job
	size int
}

var workers *pool

func newPool(n int) *pool {
	p := &pool{jobs: make(chan job, n)}
	for i := 0; i < n; i++ {
		p.jobs <- job{i, make([]byte, 1000)}
	}
	return p
}

type snapshot struct {
	routes map[string]*session
}

type router struct {
	current atomic.Pointer[snapshot]
}

var routing router

func published(n int) {
	s := &snapshot{routes: make(map[string]*session)}
	for i := 0; i < n; i++ {
		v := newSession(i)
		s.routes[v.user] = v
	}
	routing.current.Store(s)
}

type recorder struct {
	http.Handler
	body bytes.Buffer
}

var recording *recorder

func recorded(n int) {
	recording = &recorder{Handler: http.NotFoundHandler()}
	for i := 0; i < n; i++ {
		recording.body.Write(make([]byte, 1000))
	}
}

type shard struct {
	mu   sync.RWMutex
	docs map[int]*session
}

type sharded struct {
	shards [16]*shard
}

var index *sharded

func newIndex(n int) *sharded {
	x := &sharded{}
	for i := range x.shards {
		x.shards[i] = &shard{docs: make(map[int]*session)}
	}
	for i := 0; i < 4*n; i++ {
		x.shards[i%16].docs[i] = newSession(i)
	}
	return x
}

type tenants struct {
	byName map[string]*session
}

func (t *tenants) load(n int) {
	t.byName = make(map[string]*session)
	for i := 0; i < n; i++ {
		v := newSession(i)
		t.byName[v.user] = v
	}
}

type application struct {
	name    string
	tenants tenants
}

var app application

// storage is known by an interface alone.
type storage interface{ get(string) []byte }

type memory struct {
	blobs map[string][]byte
	puts  int
}

func (m *memory) get(k string) []byte { return m.blobs[k] }

var backend storage

func newBackend(n int) storage {
	m := &memory{blobs: make(map[string][]byte)}
	for i := 0; i < n; i++ {
		m.blobs[fmt.Sprint("blob-", i)] = make([]byte, 1000)
	}
	return m
}

var hits = expvar.NewMap("hits")

type text []byte

func (t text) String() string { return string(t) }

func counted(n int) {
	for i := 0; i < n; i++ {
		hits.Set(fmt.Sprint("path-", i), text(make([]byte, 1000)))
	}
}

// sink keeps what is logged.
type sink struct {
	lines [][]byte
}

func (s *sink) Write(p []byte) (int, error) {
	s.lines = append(s.lines, append(make([]byte, 0, 1000), p...))
	return len(p), nil
}

func logged(n int) {
	log.SetOutput(&sink{})
	for i := 0; i < n; i++ {
		log.Print("line ", i)
	}
}

func reminded(n int) {
	for i := 0; i < n; i++ {
		v := newSession(i)
		time.AfterFunc(time.Hour, func() { v.body[0]++ })
	}
}

var size = 10 << 10

// never is never sent to.
var never = make(chan int)

func blocked(n int) {
	ready := make(chan bool)
	for i := 0; i < n; i++ {
		go wait(ready, never)
	}
	for i := 0; i < n; i++ {
		<-ready
	}
}

//go:noinline
func wait(ready chan<- bool, never <-chan int) {
	buffer := make([]byte, size)
	ready <- true
	buffer[<-never]++
	runtime.KeepAlive(buffer)
}

// serving keeps a map on the stack of a loop that never returns.
func serving(n int) {
	ready := make(chan bool)
	go loop(n, ready)
	<-ready
}

//go:noinline
func loop(n int, ready chan<- bool) {
	clients := make(map[string]*session)
	for i := 0; i < n; i++ {
		v := newSession(i)
		clients[v.user] = v
	}
	ready <- true
	for i := range never {
		delete(clients, fmt.Sprint(i))
	}
}

// hall has its guests in a map, which the calls that wait in it have in hand, too.
type hall struct {
	name   string
	guests map[string]*session
}

// answering leaves four calls waiting, each with the map of the hall, to which nothing but stacks leads.
func answering(n int) {
	h := &hall{guests: make(map[string]*session)}
	for i := 0; i < n; i++ {
		v := newSession(i)
		h.guests[v.user] = v
	}
	ready := make(chan bool)
	for range 4 {
		go call(h.greet, ready)
		<-ready
	}
}

// visited has a hall, and calls what has the map of it in hand.
//
//go:noinline
func visited(n int, ready chan<- bool) {
	h := &hall{guests: make(map[string]*session)}
	for i := 0; i < n; i++ {
		v := newSession(i)
		h.guests[v.user] = v
	}
	greet := h.greet
	seen(greet)
	call(greet, ready)
	fmt.Println(h.name)
}

// seen is told of handlers, which lie in the heap therefore.
var seen = ignore

func ignore(func(chan<- bool)) {}

// visiting leaves one such call waiting.
func visiting(n int) {
	ready := make(chan bool)
	go visited(n, ready)
	<-ready
}

//go:noinline
func call(handler func(chan<- bool), ready chan<- bool) {
	handler(ready)
	runtime.KeepAlive(handler)
}

func (h *hall) greet(ready chan<- bool) {
	h.look(h.guests, ready)
	fmt.Println(len(h.guests))
}

//go:noinline
func (h *hall) look(guests map[string]*session, ready chan<- bool) {
	ready <- true
	for i := range never {
		delete(guests, fmt.Sprint(i))
	}
}

var onEvent []func(string)

// subscribed captures a map in a closure.
func subscribed(n int) {
	seen := make(map[string]*session)
	onEvent = append(onEvent, func(s string) { seen[s] = newSession(len(seen)) })
	for i := 0; i < n; i++ {
		onEvent[0](fmt.Sprint("event-", i))
	}
}

type cache[K comparable] struct {
	items map[K]*session
	limit int
}

var pages *cache[string]

func newCache[K comparable](n int) *cache[string] {
	c := &cache[string]{items: make(map[string]*session), limit: -1}
	for i := 0; i < n; i++ {
		v := newSession(i)
		c.items[v.user] = v
	}
	return c
}

// region is a tree of maps.
type region struct {
	children map[string]*region
	body     []byte
}

var tree *region

func newRegion(n int) *region {
	r := &region{children: make(map[string]*region)}
	for i := 0; i < n; i++ {
		r.children[fmt.Sprint("child-", i)] = &region{body: make([]byte, 1000)}
	}
	return r
}

type auditor struct {
	events []*session
}

var audit = new(auditor)

func (a *auditor) log(n int) {
	for i := 0; i < n; i++ {
		a.events = append(a.events, newSession(i))
	}
}

// outbox is a queue: items are taken from the front of its slice.
type outbox struct {
	mu      sync.Mutex
	waiting []*session
}

func (o *outbox) next() *session {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.waiting[0]
	o.waiting = o.waiting[1:]
	return s
}

func (o *outbox) deliver(more chan int, n int) {
	for range n / 4 {
		o.next()
	}
	more <- n
	<-more
	o.next()
}

// posting keeps n items in an outbox that only the goroutine knows which delivers them.
func posting(n int) {
	more := make(chan int)
	o := &outbox{}
	for i := range n {
		o.waiting = append(o.waiting, newSession(i))
	}
	go o.deliver(more, n)
	<-more
}

// spool is a queue in an array that is used again from its start: room for 4,000 events, the oldest at first.
type spool struct {
	events   []*session
	first, n int
}

func (s *spool) add(e *session) {
	s.events[(s.first+s.n)%len(s.events)] = e
	s.n++
}

func (s *spool) next() *session {
	e := s.events[s.first]
	s.events[s.first] = nil
	s.first, s.n = (s.first+1)%len(s.events), s.n-1
	return e
}

var spooled *spool

func spooling(n int) {
	spooled = &spool{events: make([]*session, 2*n)}
	for i := range n + 700 {
		spooled.add(newSession(i))
	}
	for range 700 {
		spooled.next()
	}
}

type change struct {
	number int
	text   []byte
}

// journal has each change, and state its text as well: two variables lead to it.
type journal struct{ changes map[int]*change }

type state struct{ texts [][]byte }

var (
	written *journal
	latest  *state
)

func changing(n int) {
	written, latest = &journal{map[int]*change{}}, &state{}
	for i := range n {
		c := &change{i, make([]byte, 1000)}
		written.changes[i], latest.texts = c, append(latest.texts, c.text)
	}
}
