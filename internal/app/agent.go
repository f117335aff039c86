package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/highwater-go/highwater/internal/container"
	"github.com/highwater-go/highwater/internal/fleet"
	"github.com/highwater-go/highwater/internal/procfs"
	"github.com/highwater-go/highwater/internal/recording"
	"github.com/highwater-go/highwater/internal/sample"
	"github.com/highwater-go/highwater/internal/units"
	"github.com/highwater-go/highwater/internal/visible"
	"github.com/highwater-go/highwater/internal/watch"
)

// AgentFlags are the agent's flags as given.
type AgentFlags struct {
	StoreFlags
	Node, Spool, Recordings string
	SpoolSize               string
	HeapProfile             string
	Metrics                 string
	AtMost                  int
	RunFor                  time.Duration
	Print                   bool
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

	mu   sync.Mutex
	seen map[int]map[string]string // settings of programs, by pid
}

// agentLife is what an agent has of one watch.
type agentLife struct {
	*fleet.Life
	who  fleet.Identity
	main fleet.ID
}

func (f *AgentFlags) Run(ctx context.Context, s *Streams) error {
	a := &agent{flags: *f, streams: s, machine: container.Machine{Root: "/"}, seen: map[int]map[string]string{}}
	switch f.HeapProfile {
	case "off", "marked", "on":
	default:
		return Usagef("--heap-profile marked", "--heap-profile is off, marked or on, not %s", f.HeapProfile)
	}
	size, err := units.ParseSize(f.SpoolSize)
	if err != nil || size > 1<<50 {
		return Usagef("--spool-size 1GiB", "--spool-size %s is not a size", f.SpoolSize)
	}
	w, err := WatchFlags{All: true, Quiet: true, AtMost: f.AtMost, Rate: 10, RunFor: f.RunFor, EnableHeapProfile: f.HeapProfile != "off", Ask: AskFlags{ProbeRate: 1}}.Plan("agent", nil)
	if err != nil {
		return err
	}
	status := newStatus(s.Err)
	put, stats := a.printRows, func() fleet.SpoolStats { return fleet.SpoolStats{} }
	if !f.Print {
		store, err := f.Open()
		if err != nil {
			return err
		}
		defer store.Close()
		spool, err := fleet.OpenSpool(f.Spool, int64(size))
		if err != nil {
			return &ExitError{Code: ExitFailed, Err: err, Hint: "--spool names another directory"}
		}
		defer spool.Close()
		put, stats = spool.Put, spool.Stats
		ended := a.send(ctx, store, spool, status)
		defer ended()
	}
	if err := os.MkdirAll(f.Recordings, 0o700); err != nil {
		return &ExitError{Code: ExitFailed, Err: fmt.Errorf("keep recordings of incidents: %w", err), Hint: "--recordings names another directory"}
	}
	a.collector = fleet.NewCollector(a.node(), put, func(err error) { status.say("highwater: rows were lost: %v", err) })
	if f.Metrics != "" {
		end, err := a.serve(f.Metrics, stats)
		if err != nil {
			return err
		}
		defer end()
	}
	follow := newFollower(w, s)
	defer follow.faults.close()
	defer follow.owners.Close()
	follow.agent, follow.dir = a, f.Recordings
	until, cancel := follow.until(ctx)
	defer cancel()
	defer follow.share(until)()
	status.say("watching every Go program of %s; rows go to %s, recordings of incidents to %s", a.node().Name, orWord(f.Address, "standard output"), f.Recordings)
	err = follow.run(until)
	follow.lives.Wait()
	a.collector.Flush()
	return err
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
		_ = a.collector.Metrics(w, stats(), func() float64 { return float64(time.Now().UnixMilli()) / 1000 }) // who asked has gone
	})
	server := &http.Server{Handler: handler, ReadTimeout: answerWait, WriteTimeout: answerWait, IdleTimeout: answerWait, MaxHeaderBytes: 16 << 10}
	go func() { _ = server.Serve(l) }() // until it is closed
	return func() { _ = server.Close() }, nil
}

// answerWait is how long an answer with metrics may take.
const answerWait = 10 * time.Second

// lastSend is how long an agent that ends tries to send what is left. The rest stays in
// the spool for the next one.
const lastSend = 10 * time.Second

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
	return func() {
		cancel()
		sender.Wait()
		last, done := context.WithTimeout(context.Background(), lastSend)
		defer done()
		err := spool.Drain(last, store)
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

// errOff is that a program asks to be left alone.
var errOff = errors.New("it is not watched, as it has " + envOff + "=off in its environment")

// choose settles how a program is watched, by its environment.
func (a *agent) choose(pid int, o *watch.Options) error {
	env, err := procfs.Environment("/proc", pid, envOff, envProfile, envService, envOTel, envOTelRes)
	if err != nil {
		env = nil // as of a program that may not be read: then it is named by its other names
	}
	if env[envOff] == "off" {
		return fmt.Errorf("pid %d: %w", pid, errOff)
	}
	enable := a.flags.HeapProfile == "on" || a.flags.HeapProfile == "marked" && env[envProfile] == "1"
	o.HeapProfile, o.EnableRunning = enable, enable
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[pid] = env
	return nil
}

// begin makes what gathers the rows of a watch.
func (a *agent) begin(l *life) *agentLife {
	a.mu.Lock()
	env := a.seen[l.pid]
	delete(a.seen, l.pid)
	a.mu.Unlock()
	var in container.Container
	unit := ""
	if account, ok := l.source.Account(); ok {
		in, _ = a.machine.Of(account.Home)
		if container.KindOf(account.Home) == container.OfService {
			unit = strings.TrimSuffix(path.Base(account.Home), ".service")
		}
	}
	one := &agentLife{}
	one.Life = a.collector.NewLife(func(p sample.Program) fleet.Identity {
		who := identify(p, env, in, unit)
		if p.Key.PID == l.pid {
			one.who, one.main = who, a.collector.Process(p)
		}
		return who
	})
	return one
}

// identify names a program: by what its environment says, its pod, its unit or its main
// package, in this order.
func identify(p sample.Program, env map[string]string, in container.Container, unit string) fleet.Identity {
	attributes := map[string]string{}
	for _, pair := range strings.Split(env[envOTelRes], ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			if text, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
				attributes[strings.TrimSpace(name)] = text
			}
		}
	}
	who := fleet.Identity{Namespace: in.Namespace, Pod: in.Pod, Container: in.Name, ContainerID: in.ID}
	main, module, revision, build := "", "", "", ""
	if g := p.Go; g != nil {
		module, revision, build = g.ModuleVersion, g.Revision, g.BuildID
		if main = path.Base(g.MainPackage); main == "." || main == "main" || main == "command-line-arguments" {
			main = ""
		}
	}
	if module == "(devel)" {
		module = ""
	}
	who.Service = cmp.Or(env[envOTel], attributes["service.name"], env[envService], container.Workload(in.Pod), unit, main, p.Name)
	who.Version = cmp.Or(attributes["service.version"], module, revision[:min(12, len(revision))], build[:min(12, len(build))])
	return who
}

// end explains a watch that is over, and keeps the recording of an incident. Of a program
// that runs on, where the agent ends, nothing is explained.
func (a *agent) end(l *life) {
	l.rows.Close()
	select {
	case <-l.source.Done():
	default:
		_ = l.tape.writer.Close() // and removed
		a.drop(l)
		return
	}
	answer := l.tape.conclude(l.streams)
	if answer == nil { // which was said
		a.report(l, fleet.Died(time.Now(), l.name+" ended; its recording could not be explained."))
		return
	}
	in, ok := fleet.IncidentOf(answer)
	if !ok {
		a.drop(l)
		return
	}
	a.report(l, in)
}

// report sends an incident, and says it.
func (a *agent) report(l *life, in fleet.Incident) {
	in.Process = l.rows.main
	if file, err := filepath.Abs(l.tape.path); err == nil {
		in.Recording = (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	}
	if info, err := os.Stat(l.tape.path); err == nil {
		in.RecordingBytes = uint64(info.Size())
	}
	in = a.collector.Incident(in, l.rows.who)
	newStatus(a.streams.Err).say("incident %s of %s: %s", in.Incident.String()[:12], in.Service, in.Sentence)
}

// drop removes a recording of which nothing will be asked.
func (a *agent) drop(l *life) {
	dir, err := os.OpenRoot(filepath.Dir(l.tape.path))
	if err != nil {
		return
	}
	defer dir.Close()
	_ = recording.Remove(dir, filepath.Base(l.tape.path)) // a file more
}
