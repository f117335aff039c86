// Trafficagent watches API traffic without being part of it: it captures TCP
// on an interface, or reads a pcap file, puts the segments together, reads the
// HTTP in them, and sends a collector traces of the exchanges in which every
// value is replaced by its hash; or it writes an HTTP Archive.
//
//	trafficagent [flags]             the agent
//	trafficagent [flags] collector   takes traces and adds them up
//	trafficagent [flags] traffic     an API, and requests to it; or a pcap file of them
//
// It deliberately knows HTTP/1.1 only, and gives up on a connection of which it
// missed something.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/internal/probe"
	"github.com/highwater-go/highwater/cases/internal/program"
)

// knownFaults are explained in truth.json.
var knownFaults = []string{"hole", "hashreflect", "visitor", "regexp", "readall"}

const (
	defaultAPI       = 18701
	defaultCollector = "127.0.0.1:18702"
)

// fileIsRead is printed at the end of a file by an agent that stays.
const fileIsRead = "the file is read"

// options are the flags of all roles.
type options struct {
	fault          *faults.Set
	debug, listen  string
	file, device   string
	port           uint
	collector, har string
	stay           bool
	traffic        load
	trafficFile    string
}

func main() {
	program.Main("trafficagent", run)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, role, err := parse(args)
	if err != nil {
		return err
	}
	if err := probe.Start(ctx, o.debug); err != nil {
		return err
	}
	switch role {
	case "", "agent":
		return o.agent(ctx, out)
	case "collector":
		return collect(ctx, o.listen, out)
	case "traffic":
		if o.trafficFile != "" {
			return o.traffic.pcap(o.trafficFile)
		}
		return o.traffic.live(ctx, fmt.Sprintf("127.0.0.1:%d", o.port), out)
	}
	return fmt.Errorf("no role %q; choose of: agent, collector, traffic", role)
}

func parse(args []string) (*options, string, error) {
	o := new(options)
	f := flag.NewFlagSet("trafficagent", flag.ContinueOnError)
	o.fault = faults.Flag(f, knownFaults...)
	f.StringVar(&o.debug, "debug", "", "loopback `address` to answer pprof and runtime/metrics on")
	f.StringVar(&o.listen, "listen", defaultCollector, "loopback `address` of a collector")
	f.StringVar(&o.file, "read", "", "pcap `file` to read, instead of an interface")
	f.StringVar(&o.device, "interface", "lo", "`interface` to capture on")
	f.UintVar(&o.port, "port", defaultAPI, "TCP `port` of the API that is watched")
	f.StringVar(&o.collector, "collector", "", "`address` of the collector; empty: traces go nowhere")
	f.StringVar(&o.har, "har", "", "HTTP Archive `file` to write")
	f.BoolVar(&o.stay, "stay", false, "stay when the file is read, until asked to end")
	f.IntVar(&o.traffic.requests, "requests", 10_000, "traffic: requests to make")
	f.IntVar(&o.traffic.clients, "clients", 8, "traffic: connections at once")
	f.IntVar(&o.traffic.exports, "exports", 0, "traffic: how many of the requests ask for an export")
	f.IntVar(&o.traffic.exportMB, "export", 64, "traffic: MiB of an export, before gzip")
	f.IntVar(&o.traffic.blobMB, "blob", 0, "traffic to a file: MiB of an answer of which a segment is lost")
	f.StringVar(&o.trafficFile, "write", "", "traffic: pcap `file` to write, instead of making the requests")
	if err := f.Parse(args); err != nil {
		return nil, "", err
	}
	t := o.traffic
	if f.NArg() > 1 || o.port == 0 || o.port > 65535 || t.clients < 1 || t.clients > 10_000 || t.requests < 0 || t.exports < 0 || t.blobMB < 0 {
		return nil, "", errors.New("one role; -port 1 to 65535, -clients 1 to 10000, no negative numbers")
	}
	return o, f.Arg(0), nil
}

// agent watches until the file or ctx ends, and prints what it saw.
func (o *options) agent(ctx context.Context, out io.Writer) (err error) {
	from, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	var to sink = nobody{}
	if o.collector != "" {
		to = newRemote(o.collector)
	}
	p := newPipeline(o.fault, to)
	if o.har != "" {
		if p.har, err = createHAR(o.har); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.har.close()) }()
	}
	c := newConversations(&bodies{readAll: o.fault.Has("readall")}, p.take)
	a := newAssembler(c, !o.fault.Has("hole"))
	fmt.Fprintln(out, "watching")
	segments, err := assemble(from, a)
	a.FlushAll()
	if o.stay && err == nil {
		fmt.Fprintln(out, fileIsRead)
		<-ctx.Done()
		runtime.KeepAlive(a) // as in an agent that goes on capturing
	}
	lost, did := c.wait(), p.end()
	fmt.Fprintf(out, "%s: %d segments, %d exchanges, %d traces in %d batches, %d refused; %d streams with a gap, %d given up\n",
		o.fault, segments, did.Exchanges, did.Traces, did.Batches, did.Refused, lost.Gaps, lost.GivenUp)
	return err
}

func (o *options) open(ctx context.Context) (packets, error) {
	if o.file != "" {
		return openFile(ctx, o.file)
	}
	return openInterface(ctx, o.device, uint16(o.port))
}
