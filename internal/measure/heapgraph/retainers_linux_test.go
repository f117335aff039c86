package heapgraph

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// fault is one of testdata/retainers or libraries, what its source calls the place that
// keeps everything, and what leads there. stripped is what it is called in a stripped
// program, where that is something else.
type fault struct{ name, owner, root, stripped string }

var faults = []fault{
	{"mux", "(*store).sessions map[string]*session, 2,000 entries", "main.(*store).login, registered in http.defaultServeMux", ""},
	{"syncmap", "(*registry).users sync.Map, 2,000 entries", "main.users", ""},
	{"list", "(*timeline).posts *list.List, 2,000 entries", "main.feed", ""},
	{"ring", "(*tracer).spans *ring.Ring, 2,000 entries", "main.last", "a variable that main.init.func3 uses"},
	{"context", "(*request).ctx context.Context, 2,000 entries", "main.current", "a variable that main.chained uses"},
	{"queue", "(*pool).jobs chan job, 2,000 of 2,000 queued", "main.workers", ""},
	{"atomic", "(*snapshot).routes map[string]*session, 2,000 entries", "main.routing", ""},
	{"buffer", "(*recorder).body bytes.Buffer", "main.recording", "a variable that main.recorded uses"},
	{"shards", "(*shard).docs map[int]*session, 8,000 entries, 16 places", "main.index", ""},
	{"embedded", "main.app map[string]*session, 2,000 entries", "", "a variable that main.init.func6 uses map[string]*session, 2,000 entries"},
	{"iface", "(*memory).blobs map[string][]byte, 2,000 entries", "main.backend", ""},
	{"expvar", "main.hits *expvar.Map, 2,000 entries", "", "a variable that main.init uses *expvar.Map, 2,000 entries"},
	{"log", "(*sink).lines [][]byte, 2,000 entries", "log.std", ""},
	{"timer", "timers that have not fired, 2,000 entries", "", ""},
	{"blocked", "the stacks of main.wait, 2,000 goroutines", "", ""},
	{"frame", "a local variable of main.loop map[string]*session, 2,000 entries", "", ""},
	{"captured", "a variable that main.subscribed.func1 captured map[string]*session, 2,000 entries", "main.onEvent", ""},
	{"generic", "(*cache[string]).items map[string]*session, 2,000 entries", "main.pages", ""},
	{"nested", "main.tree *region, 2,001 entries", "", "a variable that main.init.func9 uses *region, 2,001 entries"},
	{"slice", "(*auditor).events []*session, 2,000 entries", "main.audit", ""},
	{"outbox", "a local variable of main.(*outbox).deliver []*session, 2,000 entries", "", ""},
	{"circle", "(*spool).events []*session, 2,000 entries", "main.spooled", ""},
	{"changes", "(*journal).changes and others map[int]*change, 2,000 entries", "main.written", ""},
	{"called", "(*hall).guests map[string]*session, 2,000 entries", "a local variable of main.visited", ""},
	{"inhand", "(*hall).guests map[string]*session, 2,000 entries", "a local variable of main.answering.gowrap1", ""},
}

// taken is how many of its items had been taken from the front of a queue.
func (f fault) taken() uint64 {
	return map[string]uint64{"outbox": 500, "circle": 700, "deque-taken": 666, "queue-round": 500}[f.name]
}

// startKeeping starts such a program.
func startKeeping(t *testing.T, dir, fault string, n int, o hwtest.BuildOptions) *shaped {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	path := hwtest.Build(t, filepath.Join("testdata", dir), o)
	cmd := hwtest.StartPiped(t, exec.Command(path, fault, fmt.Sprint(n)))
	p := &shaped{pid: cmd.PID}
	cmd.Line()
	var err error
	p.bin, err = gobin.Open(path)
	must(err)
	t.Cleanup(func() { p.bin.Close() })
	hwtest.Need(t, p.bin.Supported)
	mem, err := procfs.OpenMemory("/proc", p.pid)
	must(err)
	t.Cleanup(func() { mem.Close() })
	runtime, err := gomem.Attach(mem, p.bin, p.bias(t))
	must(err)
	p.heap = goheap.New(runtime)
	return p
}

// calls compares what most of a program is retained by with what its source says.
func (f fault) calls(t *testing.T, dir string) {
	for name, o := range map[string]hwtest.BuildOptions{"plain": {}, "stripped": {Strip: true, PIE: true}} {
		t.Run(f.name+"/"+name, func(t *testing.T) {
			a := startKeeping(t, dir, f.name, 2000, o).analyze(t)
			h := a.Holders()
			if len(h) == 0 {
				t.Fatal("nothing holds much")
			}
			owner := a.owners().of(h[0].at)
			if !o.Strip {
				if want := strings.TrimSuffix(f.owner+" ["+f.root+"]", " []"); owner.String() != want {
					t.Errorf("%s is called %q\nwant %q", h[0].Path, owner, want)
				}
			} else if want := cmp.Or(f.stripped, f.owner); owner.What() != want { // variables have no names there
				t.Errorf("%s is called %q\nwant %q", h[0].Path, owner, want)
			}
			if taken := owner.Taken; taken != f.taken() {
				t.Errorf("%d items were taken from its front, want %d", taken, f.taken())
			}
		})
	}
}

func TestFaultsOfTheStandardLibraryAreCalledWhatTheirSourceCallsThem(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, f := range faults {
		f.calls(t, "retainers")
	}
}

var libraryFaults = []fault{
	{"golang-lru", "main.front *lru.Cache[string,*session], 2,000 entries", "", "a variable that main.init.func1 uses *lru.Cache[string,*session], 2,000 entries"},
	{"expirable", "(*tokenStore).byID *expirable.LRU[string,*session], 2,000 entries", "main.tokens", ""},
	{"simplelru", "(*plainStore).recent *simplelru.LRU[int,*session], 2,000 entries", "main.plain", ""},
	{"go-cache", "(*accountService).cache *cache.Cache, 2,000 entries", "main.accounts", ""},
	{"groupcache", "(*thumbnails).lru *lru.Cache, 2,000 entries", "main.thumbs", ""},
	{"bigcache", "(*blobStore).cache *bigcache.BigCache", "main.blobs", ""},
	{"ttlcache", "(*leaseStore).leases *ttlcache.Cache[string,*session], 2,000 entries", "main.leases", ""},
	{"cmap", "(*presenceService).online cmap.ConcurrentMap[string,*session], 2,000 entries", "main.presence", ""},
	{"xsync", "(*rateLimiter).perClient *xsync.MapOf[string,*session]", "main.limits", "a variable that main.init.func9 uses"},
	{"set", "(*firewall).banned mapset.Set[*session], 2,000 entries", "main.banned", "a variable that main.init.func10 uses, 2,000 entries"},
	{"btree", "(*orderBook).byUser *btree.BTreeG[*session], 2,000 entries", "main.orders", "a variable that main.init.func11 uses"},
	{"gods", "(*browser).visited *linkedhashmap.Map, 2,000 entries", "main.history", ""},
	{"deque", "(*dispatcher).pending deque.Deque[*session], 2,000 entries", "main.backlog", ""},
	{"queue", "(*mailer).outbox *queue.Queue, 2,000 entries", "main.outbox", ""},
	{"deque-taken", "(*dispatcher).pending deque.Deque[*session], 2,000 entries", "main.backlog", ""},
	{"queue-round", "(*mailer).outbox *queue.Queue, 2,000 entries", "main.outbox", ""},
	{"cron", "(*scheduler).cron *cron.Cron, 2,000 entries", "main.jobs", ""},
	{"websocket", "(*hub).replays map[int]*websocket.PreparedMessage, 2,000 entries", "main.room", ""},
	{"zap", "(*debugLog).seen *observer.ObservedLogs, 2,000 entries", "main.logs", ""},
	{"zerolog", "(*sink).lines [][]byte, 2,000 entries", "main.running", ""},
	{"prometheus", "(*instrumented).requests *prometheus.CounterVec, 2,000 entries", "main.metrics", ""},
	{"singleflight", "the stacks of main.newLoader.func1, 2,000 goroutines", "", ""},
	{"wrapped", "(*evicting).byKey map[string]*list.Element, 2,000 entries", "main.wrapped", ""},
}

// The libraries are built where HIGHWATER_LIBRARIES is set: make libraries.
func TestFaultsWithWellKnownModulesAreCalledWhatTheirSourceCallsThem(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	if os.Getenv("HIGHWATER_LIBRARIES") == "" {
		t.Skip("HIGHWATER_LIBRARIES is not set: make libraries builds twenty modules for this")
	}
	for _, f := range libraryFaults {
		f.calls(t, "libraries")
	}
}

func TestWhatKindOfRootKeepsAHeapIsSaid(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, f := range []struct {
		fault string
		want  sample.HeapRoot
	}{
		{"mux", sample.HeapRoot{Kind: sample.RootGlobal, Func: "net/http.defaultServeMux"}},
		{"blocked", sample.HeapRoot{Kind: sample.RootGoroutine, Func: "main.blocked.gowrap1", Creator: "main.blocked", Count: 2000}},
		{"frame", sample.HeapRoot{Kind: sample.RootGoroutine, Func: "main.serving.gowrap1", Creator: "main.serving", Count: 1}},
		{"timer", sample.HeapRoot{Kind: sample.RootTimer, Func: "runtime.allp"}},
	} {
		t.Run(f.fault, func(t *testing.T) {
			c, err := startKeeping(t, "retainers", f.fault, 2000, hwtest.BuildOptions{}).analyze(t).Summarize(t.Context(), Sites{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(c.Paths, func(p sample.HeapPath) bool { return p.Holder && p.Retained*2 > c.LiveBytes })
			if i < 0 {
				t.Fatalf("nothing holds most: %+v", c.Paths)
			}
			got := c.RootOf(i)
			if got == nil {
				t.Fatal("the root is not known")
			}
			if of := *got; of.Count > 0 {
				if of.First <= 1 || of.Last < of.First+uint64(of.Count)-1 || of.NewID < of.Last {
					t.Errorf("goroutines %d to %d of %d", of.First, of.Last, of.NewID)
				}
			}
			got.First, got.Last, got.NewID, got.Oldest = 0, 0, 0, sample.Opt[time.Duration]{}
			if !reflect.DeepEqual(*got, f.want) {
				t.Errorf("kept by %+v, want %+v", *got, f.want)
			}
		})
	}
}

// What several goroutines lead to is kept by all of them: each is told, with the frame in which it has it.
func TestAllGoroutinesThatShareAHeapAreTold(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	c, err := startShape(t, hwtest.BuildOptions{}, "shared", 3000).analyze(t).Summarize(t.Context(), Sites{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Paths, func(p sample.HeapPath) bool { return p.Holder && p.Retained*2 > c.LiveBytes })
	if i < 0 || c.RootOf(i) == nil {
		t.Fatalf("nothing holds most: %+v", c.Paths)
	}
	got := map[string]string{}
	for _, s := range c.RootOf(i).Sharers {
		got[s.Func] = s.Frame
	}
	if want := map[string]string{"main.accept.func1": "main.accept.func1", "main.serve.func1": "main.serve.func1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("kept by %v, want %v", got, want)
	}
}
