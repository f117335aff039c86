package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/eyes/cgroup"
	"github.com/highwater-go/highwater/internal/eyes/container"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/show/fleet"
	"github.com/highwater-go/highwater/internal/words/units"
	"github.com/highwater-go/highwater/internal/words/visible"
)

// AgentFlags are the agent's flags as given.
type AgentFlags struct {
	StoreFlags
	BucketFlags
	Node, Spool, Recordings string
	SpoolSize, KeepSize     string
	OTLP, Push              string
	Events, Check           bool
	HeapProfile             string
	Metrics                 string
	AtMost                  int
	RunFor                  time.Duration
	Print                   bool

	recordingsMost int64
}

// Where an agent keeps its things.
const (
	AgentHome    = "/var/lib/highwater"
	DefaultSpool = "1GiB"
)

// The settings of a program's environment that an agent reads; it reads no other.
const (
	envOff     = "HIGHWATER"              // "off": it is not to be watched
	envProfile = "HIGHWATER_HEAP_PROFILE" // "1": a heap profile may be enabled in it
	envService = "HIGHWATER_SERVICE"
	envOTel    = "OTEL_SERVICE_NAME"
	envOTelRes = "OTEL_RESOURCE_ATTRIBUTES"
)

// agent watches a node for a fleet.
type agent struct {
	flags     AgentFlags
	streams   *Streams
	collector *fleet.Collector
	machine   container.Machine
	hierarchy *cgroup.Hierarchy // nil: none accounts memory
	bootID    string
	status    *status
	uploads   *fleet.Uploads // nil: recordings stay on this machine
	outlets   outlets
	kills     *fleet.Kills
	drain     func(most time.Duration) error // sends what waits; nil: nothing is sent
	blind     bool                           // the last look for programs failed

	mu          sync.Mutex
	seen        map[int]map[string]string // settings of programs, by pid
	kept        map[causeKept][]time.Time // when recordings were kept
	groups      map[string]fleet.Identity // cgroups whose kills are counted
	leftBehind  map[string]leftRecording  // by cgroup
	killsFailed bool
	unwatched   map[string]int // programs by why they are not watched
}

// agentLife is what an agent has of one watch.
type agentLife struct {
	*fleet.Life
	who   fleet.Identity
	main  fleet.ID
	group string // the cgroup whose kills are counted, "" where none is known
}

func (f *AgentFlags) Run(ctx context.Context, s *Streams) error {
	if err := f.plan(); err != nil {
		return err
	}
	if f.Check {
		return f.checkHere(ctx, s)
	}
	size, _ := units.ParseSize(f.SpoolSize) // plan has read it
	a := &agent{flags: *f, streams: s, status: newStatus(s.Err), machine: container.Machine{Root: "/"}, seen: map[int]map[string]string{},
		leftBehind: map[string]leftRecording{}, unwatched: map[string]int{}}
	w, err := WatchFlags{All: true, Quiet: true, AtMost: f.AtMost, Rate: 10, RunFor: f.RunFor, EnableHeapProfile: f.HeapProfile != "off",
		Ask: AskFlags{ProbeRate: 1}, Heap: HeapPolicyFlag{Unasked: atKills}}.Plan("agent", nil)
	if err != nil {
		return err
	}
	a.hierarchy = w.hierarchy
	put, stats := a.printRows, func() fleet.SpoolStats { return fleet.SpoolStats{} }
	killsFile := ""
	if !f.Print {
		store, err := f.Open()
		if err != nil {
			return err
		}
		defer store.Close()
		spool, err := a.openSpool(ctx, int64(size))
		if err != nil {
			return &ExitError{Code: ExitFailed, Err: err, Hint: "--spool names another directory"}
		}
		defer spool.Close()
		put, stats, killsFile = spool.Put, spool.Stats, filepath.Join(f.Spool, "kills.json")
		ended := a.send(ctx, store, spool, a.status)
		defer ended()
	}
	if err := os.MkdirAll(f.recordingsDir(), 0o700); err != nil {
		return &ExitError{Code: ExitFailed, Err: fmt.Errorf("keep recordings of incidents: %w", err), Hint: "--recordings names another directory"}
	}
	node := a.node()
	a.bootID = node.BootID
	a.kills = fleet.NewKills(killsFile, a.bootID)
	defer a.kills.Close()
	a.groups = a.kills.Known()
	a.collector = fleet.NewCollector(node, put, func(err error) { a.status.say("highwater: rows were lost: %v", err) })
	ended, err := a.besides(ctx)
	if err != nil {
		return err
	}
	defer ended()
	if f.Metrics != "" {
		end, err := a.serve(f.Metrics, stats)
		if err != nil {
			return err
		}
		defer end()
	}
	return a.watch(ctx, w)
}

// atKills has the heap of a program that is killed captured, where that is cheap: heap INCIDENT shows it.
var atKills = HeapPolicy{Kill: true, ByDefault: true}

// plan checks the flags.
func (f *AgentFlags) plan() error {
	switch f.HeapProfile {
	case "off", "marked", "on":
	default:
		return Usagef("--heap-profile marked", "--heap-profile is off, marked or on, not %s", f.HeapProfile)
	}
	for flag, text := range map[string]string{"--spool-size": f.SpoolSize, "--recordings-size": f.KeepSize} {
		size, err := units.ParseSize(text)
		if err != nil || size > 1<<50 {
			return Usagef(flag+" 1GiB", "%s %s is no size", flag, text)
		}
		if flag == "--recordings-size" {
			f.recordingsMost = int64(size)
		}
	}
	return nil
}

// recordingsDir is where recordings are written: those for a bucket wait there.
func (f *AgentFlags) recordingsDir() string {
	if strings.Contains(f.Recordings, "://") {
		return filepath.Join(f.Spool, "recordings")
	}
	return f.Recordings
}

// watch watches until the agent is told to end.
func (a *agent) watch(ctx context.Context, w *watching) error {
	follow := newFollower(w, a.streams)
	defer follow.faults.close()
	defer follow.owners.Close()
	follow.agent, follow.dir = a, a.flags.recordingsDir()
	told, cancel := follow.until(ctx)
	defer cancel()
	until, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(told, func() {
		a.sendBeforeEnd()
		stop()
	})()
	defer follow.share(until)()
	var counting sync.WaitGroup
	if a.hierarchy != nil {
		counting.Go(func() { a.countKills(until, a.hierarchy) })
	}
	a.status.say("watching every Go program of %s; rows go to %s, recordings of incidents to %s", a.collector.Node(), orWord(a.flags.Address, "standard output"),
		a.flags.Recordings)
	err := follow.run(until)
	if err != nil {
		stop() // what counts kills waits for it
	}
	follow.lives.Wait()
	counting.Wait()
	a.keepKills() // what was told as the programs were let go, too
	a.collector.Flush()
	return err
}

// besides begins what takes incidents and recordings beside the store. What it returns ends
// it, after a last try.
func (a *agent) besides(ctx context.Context) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var ends []func()
	end = func() {
		for _, one := range ends {
			one()
		}
		cancel()
	}
	if strings.Contains(a.flags.Recordings, "://") && !a.flags.Print {
		bucket, err := a.flags.bucket(a.flags.Recordings, a.flags.StoreFlags)
		if err != nil {
			cancel()
			return nil, err
		}
		a.uploads = fleet.NewUploads(a.flags.recordingsDir(), a.flags.recordingsMost, bucket, a.collector.Recorded)
		var sender sync.WaitGroup
		sending, stop := context.WithCancel(ctx)
		sender.Go(func() {
			a.uploads.Send(sending, func(err error) { a.status.say("highwater: recordings wait for the bucket: %v", err) })
		})
		ends = append(ends, func() {
			stop()
			sender.Wait()
			last, done := context.WithTimeout(context.Background(), a.lastWait())
			defer done()
			if err := a.uploads.Drain(last); err != nil {
				a.status.say("highwater: %d recordings wait for the bucket and the next agent: %v", a.uploads.Stats().Waiting, err)
			}
			a.collector.Flush()
			bucket.Close()
		})
	}
	if err := a.outlets.open(ctx, a); err != nil {
		end()
		return nil, err
	}
	ends = append([]func(){a.outlets.Close}, ends...)
	return end, nil
}

// serve answers with metrics until end is called.
func (a *agent) serve(address string, stats func() fleet.SpoolStats) (end func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, Usagef("--metrics 127.0.0.1:9645", "serve metrics: %w", err)
	}
	handler := http.NewServeMux()
	handler.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = a.collector.Metrics(w, stats(), a.more(), func() float64 { return float64(time.Now().UnixMilli()) / 1000 }) // who asked has gone
	})
	server := &http.Server{Handler: handler, ReadTimeout: answerWait, WriteTimeout: answerWait, IdleTimeout: answerWait, MaxHeaderBytes: 16 << 10}
	go func() { _ = server.Serve(l) }() // until it is closed
	return func() { _ = server.Close() }, nil
}

// answerWait is how long an answer with metrics may take.
const answerWait = 10 * time.Second

// How long an agent that ends tries to send what is left: while it still holds its programs, and
// then what was seen of them at last. The rest stays in the spool for the next one, which begins
// when this one has ended: until then a kill is not held.
const (
	firstSend = 5 * time.Second
	lastSend  = 500 * time.Millisecond
	sendOnce  = 10 * time.Second // with --for: no other agent follows
)

// sendBeforeEnd sends what there is, with the programs still watched.
func (a *agent) sendBeforeEnd() {
	a.collector.Flush()
	if a.drain != nil {
		_ = a.drain(firstSend) // what is left is told at the end
	}
}

// lastWait is how long this agent may send at last.
func (a *agent) lastWait() time.Duration {
	if a.flags.RunFor > 0 {
		return sendOnce
	}
	return lastSend
}

// lockWait is how long an agent waits for the one before it to end, and looks at its spool so often: one that
// replaces another may be started before that has ended, so that fewer kills fall between them.
const (
	lockWait  = 2 * time.Minute
	lockEvery = 20 * time.Millisecond
)

// openSpool opens the spool, as soon as no other agent has it.
func (a *agent) openSpool(ctx context.Context, size int64) (*fleet.Spool, error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	retry := time.NewTicker(lockEvery)
	defer retry.Stop()
	for told := false; ; told = true {
		spool, err := fleet.OpenSpool(a.flags.Spool, size)
		if err == nil || !errors.Is(err, fleet.ErrInUse) {
			return spool, err
		}
		if !told {
			a.status.say("another agent uses the spool %s: waiting for it to end", a.flags.Spool)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-retry.C:
		}
	}
}

// send makes the tables and sends what the spool has, beside the watch. What it returns
// sends the rest and waits for that.
func (a *agent) send(ctx context.Context, store fleet.Store, spool *fleet.Spool, status *status) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var sender sync.WaitGroup
	sender.Go(func() {
		a.makeTables(ctx, store, status)
		spool.Send(ctx, store, func(err error) {
			if err == nil {
				status.say("the store takes rows again")
				return
			}
			status.say("highwater: the store takes no rows; %s wait in the spool: %v", units.Size(spool.Stats().Bytes), err)
		})
	})
	a.drain = func(most time.Duration) error {
		last, done := context.WithTimeout(context.Background(), most)
		defer done()
		return spool.Drain(last, store)
	}
	return func() {
		cancel()
		sender.Wait()
		err := a.drain(a.lastWait())
		st := spool.Stats()
		if err != nil {
			status.say("highwater: %s of rows wait in the spool for the next agent: %v", units.Size(st.Bytes), err)
		}
		for table, n := range st.Dropped {
			status.say("highwater: %d rows of %s were dropped, as the spool was full", n, table)
		}
	}
}

// makeTables makes the tables, as soon as the store can be reached. Whoever may only write
// has them made by fleet init.
func (a *agent) makeTables(ctx context.Context, store fleet.Store, status *status) {
	retry := time.NewTicker(initEvery)
	defer retry.Stop()
	for told := false; ; told = true {
		err := store.Init(ctx)
		switch {
		case err == nil || ctx.Err() != nil || errors.Is(err, fleet.ErrCredentials):
			return
		case !told:
			status.say("highwater: the store's tables: %v", err)
		}
		if errors.Is(err, fleet.ErrRefused) || errors.Is(err, fleet.ErrColumns) {
			return // it was said; what is sent will be refused, and kept
		}
		select {
		case <-ctx.Done():
			return
		case <-retry.C:
		}
	}
}

// initEvery is how often tables are tried to be made in a store that is away.
const initEvery = 10 * time.Second

// printRows prints rows instead of sending them.
func (a *agent) printRows(t *fleet.Table, rows []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return t.Each(rows, func(row map[string]any) error {
		row["table"] = t.Name
		b, err := json.Marshal(row)
		visible.Fprintf(a.streams.Out, "%s\n", b)
		return err
	})
}

func (a *agent) node() fleet.Node {
	m := newMeta(nil)
	boot, _ := procfs.BootTime("/proc") // not known: as its comment says
	return fleet.Node{Boot: boot, Tenant: a.flags.Tenant, Name: cmp.Or(a.flags.Node, os.Getenv("NODE_NAME"), m.Host), BootID: m.BootID, Tool: m.Tool}
}
