// Command libraries makes one fault of retention with a well-known module, as servers have
// them: it says "ready" and waits for the end of its input.
//
//	libraries FAULT N
package main

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/allegro/bigcache/v3"
	"github.com/deckarep/golang-set/v2"
	"github.com/eapache/queue"
	"github.com/emirpasic/gods/maps/linkedhashmap"
	"github.com/gammazero/deque"
	"github.com/golang/groupcache/lru"
	"github.com/google/btree"
	"github.com/gorilla/websocket"
	hashilru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/expirable"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jellydator/ttlcache/v3"
	cmap "github.com/orcaman/concurrent-map/v2"
	gocache "github.com/patrickmn/go-cache"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/puzpuzpuz/xsync/v3"
	"github.com/robfig/cron/v3"
	"github.com/rs/zerolog"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sync/singleflight"
)

// faults are by name; each keeps n things of a kilobyte.
var faults = map[string]func(n int){
	"golang-lru":   func(n int) { front.load(n) },
	"expirable":    func(n int) { tokens = newTokens(n) },
	"simplelru":    func(n int) { plain = newPlain(n) },
	"go-cache":     func(n int) { accounts = newAccounts(n) },
	"groupcache":   func(n int) { thumbs = newThumbs(n) },
	"bigcache":     func(n int) { blobs = newBlobs(n) },
	"ttlcache":     func(n int) { leases = newLeases(n) },
	"cmap":         func(n int) { presence = newPresence(n) },
	"xsync":        func(n int) { limits = newLimits(n) },
	"set":          func(n int) { banned = newBanned(n) },
	"btree":        func(n int) { orders = newBook(n) },
	"gods":         func(n int) { history = newHistory(n) },
	"deque":        func(n int) { backlog = newBacklog(n) },
	"queue":        func(n int) { outbox = newOutbox(n) },
	"deque-taken":  func(n int) { backlog = newBacklog(n + n/3); backlog.finish(n / 3) },
	"queue-round":  func(n int) { outbox = newOutbox(n); outbox.send(n / 4); outbox.add(n / 4) },
	"cron":         func(n int) { jobs = newSchedule(n) },
	"websocket":    func(n int) { room = newHub(n) },
	"zap":          func(n int) { logs = newCapture(n) },
	"zerolog":      logged,
	"prometheus":   func(n int) { metrics = newMetrics(n) },
	"singleflight": func(n int) { loader = newLoader(n) },
	"wrapped":      func(n int) { wrapped = newWrapped(n) },
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

type frontend struct {
	pages *hashilru.Cache[string, *session]
	name  string
}

var front = &frontend{name: "front"}

func (f *frontend) load(n int) {
	f.pages, _ = hashilru.New[string, *session](n)
	for i := 0; i < n; i++ {
		v := newSession(i)
		f.pages.Add(v.user, v)
	}
}

type tokenStore struct {
	byID *expirable.LRU[string, *session]
	hits int
}

var tokens *tokenStore

func newTokens(n int) *tokenStore {
	s := &tokenStore{byID: expirable.NewLRU[string, *session](0, nil, time.Hour)}
	for i := 0; i < n; i++ {
		v := newSession(i)
		s.byID.Add(v.user, v)
	}
	return s
}

type plainStore struct {
	recent *simplelru.LRU[int, *session]
	hits   int
}

var plain *plainStore

func newPlain(n int) *plainStore {
	s := &plainStore{}
	s.recent, _ = simplelru.NewLRU[int, *session](n, nil)
	for i := 0; i < n; i++ {
		s.recent.Add(i, newSession(i))
	}
	return s
}

type accountService struct {
	name  string
	cache *gocache.Cache
}

var accounts *accountService

func newAccounts(n int) *accountService {
	s := &accountService{name: "accounts", cache: gocache.New(gocache.NoExpiration, 0)}
	for i := 0; i < n; i++ {
		v := newSession(i)
		s.cache.Set(v.user, v, gocache.NoExpiration)
	}
	return s
}

type thumbnails struct {
	bytes int64
	lru   *lru.Cache
}

var thumbs *thumbnails

func newThumbs(n int) *thumbnails {
	t := &thumbnails{lru: lru.New(0)}
	for i := 0; i < n; i++ {
		t.lru.Add(i, newSession(i))
	}
	return t
}

type blobStore struct {
	cache *bigcache.BigCache
	gets  int
}

var blobs *blobStore

func newBlobs(n int) *blobStore {
	c := bigcache.DefaultConfig(time.Hour)
	c.Shards, c.MaxEntriesInWindow, c.Verbose = 16, 100, false
	s := &blobStore{}
	s.cache, _ = bigcache.New(context.Background(), c)
	for i := 0; i < n; i++ {
		s.cache.Set(fmt.Sprint(i), make([]byte, 1000))
	}
	return s
}

type leaseStore struct {
	leases *ttlcache.Cache[string, *session]
	name   string
}

var leases *leaseStore

func newLeases(n int) *leaseStore {
	s := &leaseStore{leases: ttlcache.New[string, *session]()}
	for i := 0; i < n; i++ {
		v := newSession(i)
		s.leases.Set(v.user, v, ttlcache.NoTTL)
	}
	return s
}

type presenceService struct {
	name   string
	online cmap.ConcurrentMap[string, *session]
}

var presence *presenceService

func newPresence(n int) *presenceService {
	s := &presenceService{online: cmap.New[*session]()}
	for i := 0; i < n; i++ {
		v := newSession(i)
		s.online.Set(v.user, v)
	}
	return s
}

type rateLimiter struct {
	perClient *xsync.MapOf[string, *session]
	rate      int
}

var limits *rateLimiter

func newLimits(n int) *rateLimiter {
	l := &rateLimiter{perClient: xsync.NewMapOf[string, *session]()}
	for i := 0; i < n; i++ {
		v := newSession(i)
		l.perClient.Store(v.user, v)
	}
	return l
}

type firewall struct {
	name   string
	banned mapset.Set[*session]
}

var banned *firewall

func newBanned(n int) *firewall {
	f := &firewall{banned: mapset.NewSet[*session]()}
	for i := 0; i < n; i++ {
		f.banned.Add(newSession(i))
	}
	return f
}

type orderBook struct {
	byUser *btree.BTreeG[*session]
	name   string
}

var orders *orderBook

func newBook(n int) *orderBook {
	b := &orderBook{byUser: btree.NewG(8, func(a, b *session) bool { return a.user < b.user })}
	for i := 0; i < n; i++ {
		b.byUser.ReplaceOrInsert(newSession(i))
	}
	return b
}

type browser struct {
	visited *linkedhashmap.Map
	name    string
}

var history *browser

func newHistory(n int) *browser {
	b := &browser{visited: linkedhashmap.New()}
	for i := 0; i < n; i++ {
		b.visited.Put(i, newSession(i))
	}
	return b
}

type dispatcher struct {
	name    string
	pending deque.Deque[*session]
}

var backlog *dispatcher

func newBacklog(n int) *dispatcher {
	d := &dispatcher{name: "backlog"}
	for i := 0; i < n; i++ {
		d.pending.PushBack(newSession(i))
	}
	return d
}

func (d *dispatcher) finish(n int) {
	for range n {
		d.pending.PopFront()
	}
}

type mailer struct {
	outbox *queue.Queue
	sent   int
}

var outbox *mailer

func newOutbox(n int) *mailer {
	m := &mailer{outbox: queue.New()}
	m.add(n)
	return m
}

func (m *mailer) add(n int) {
	for i := 0; i < n; i++ {
		m.outbox.Add(newSession(i))
	}
}

// send takes n from the front of the outbox.
func (m *mailer) send(n int) {
	for range n {
		m.outbox.Remove()
	}
}

type scheduler struct {
	cron *cron.Cron
	name string
}

var jobs *scheduler

// newSchedule adds a job for every visitor, and none is ever removed.
func newSchedule(n int) *scheduler {
	s := &scheduler{cron: cron.New()}
	for i := 0; i < n; i++ {
		v := newSession(i)
		s.cron.AddFunc("@daily", func() { v.body[0]++ })
	}
	return s
}

type hub struct {
	name    string
	replays map[int]*websocket.PreparedMessage
}

var room *hub

func newHub(n int) *hub {
	h := &hub{replays: make(map[int]*websocket.PreparedMessage)}
	for i := 0; i < n; i++ {
		h.replays[i], _ = websocket.NewPreparedMessage(websocket.TextMessage, make([]byte, 1000))
	}
	return h
}

type debugLog struct {
	log  *zap.Logger
	seen *observer.ObservedLogs
}

var logs *debugLog

func newCapture(n int) *debugLog {
	core, seen := observer.New(zap.DebugLevel)
	d := &debugLog{log: zap.New(core), seen: seen}
	for i := 0; i < n; i++ {
		d.log.Info("visit", zap.Binary("body", make([]byte, 1000)))
	}
	return d
}

// sink keeps what is logged.
type sink struct{ lines [][]byte }

func (s *sink) Write(p []byte) (int, error) {
	s.lines = append(s.lines, append(make([]byte, 0, 1000), p...))
	return len(p), nil
}

type service struct {
	name string
	log  zerolog.Logger
}

var running *service

func logged(n int) {
	running = &service{log: zerolog.New(&sink{})}
	for i := 0; i < n; i++ {
		running.log.Info().Int("i", i).Msg("visit")
	}
}

type instrumented struct {
	name     string
	requests *prometheus.CounterVec
}

var metrics *instrumented

// newMetrics has a label with a value of its own for each visitor.
func newMetrics(n int) *instrumented {
	m := &instrumented{requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests"}, []string{"user"})}
	for i := 0; i < n; i++ {
		m.requests.WithLabelValues(fmt.Sprintf("user-%0900d", i)).Inc()
	}
	return m
}

type loading struct {
	flights singleflight.Group
	name    string
}

var loader *loading

var never = make(chan *session)

// newLoader has calls that never return.
func newLoader(n int) *loading {
	l := &loading{name: "loader"}
	for i := 0; i < n; i++ {
		v := newSession(i)
		l.flights.DoChan(v.user, func() (any, error) { v = <-never; return v.body, nil })
	}
	return l
}

// evicting is a cache of its own over a library's list.
type evicting struct {
	byKey map[string]*list.Element
	order *list.List
	limit int
}

var wrapped *evicting

func newWrapped(n int) *evicting {
	e := &evicting{byKey: make(map[string]*list.Element), order: list.New()}
	for i := 0; i < n; i++ {
		v := newSession(i)
		e.byKey[v.user] = e.order.PushFront(v)
	}
	return e
}
