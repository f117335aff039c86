// Objectsync copies the tables of a source into an object store, a Parquet
// object for each, as three processes that speak gRPC: a source lists rows and
// sends them as Arrow records, an engine moves them, a destination writes.
//
//	objectsync [flags]                 a sync: the engine, which starts the rest
//	objectsync [flags] source          rows of many tables, from a slow API
//	objectsync [flags] destination     Parquet objects, by the AWS SDK's uploader
//	objectsync [flags] store           an S3-compatible store, which keeps no bytes
//
// It deliberately has no state: a sync copies everything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/internal/probe"
	"github.com/highwater-go/highwater/cases/internal/program"
	"github.com/highwater-go/highwater/cases/internal/s3local"
)

// knownFaults are explained in truth.json: the destination has noseek, the
// source onerecord, the engine alltables.
var knownFaults = []string{"noseek", "onerecord", "alltables"}

const bucket = "tables"

// options are the flags of all roles.
type options struct {
	fault                      *faults.Set
	debug, listen              string
	source, destination, store string
	tables, pages, pageRows    int
	delay                      time.Duration
	child                      bool
}

func main() {
	program.Main("objectsync", run)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, role, err := parse(args)
	if err != nil {
		return err
	}
	if err := probe.Start(ctx, o.debug); err != nil {
		return err
	}
	if o.child {
		var stop context.CancelFunc
		ctx, stop = withParent(ctx)
		defer stop()
	}
	switch role {
	case "", "sync":
		return o.sync(ctx, out)
	case "source":
		return serveGRPC(ctx, o.listen, out, &sourceService, &source{
			count: o.tables, pages: o.pages, pageRows: o.pageRows, delay: o.delay, oneRecord: o.fault.Has("onerecord")})
	case "destination":
		d, err := newDestination(newUploads("http://"+o.store, bucket, o.fault.Has("noseek")))
		if err != nil {
			return err
		}
		return serveGRPC(ctx, o.listen, out, &destinationService, d)
	case "store":
		store, err := s3local.New(bucket, true)
		if err != nil {
			return err
		}
		return serveHTTP(ctx, o.listen, out, store)
	}
	return fmt.Errorf("no role %q; choose of: sync, source, destination, store", role)
}

func parse(args []string) (o *options, role string, err error) {
	o = new(options)
	f := flag.NewFlagSet("objectsync", flag.ContinueOnError)
	o.fault = faults.Flag(f, knownFaults...)
	f.StringVar(&o.debug, "debug", "", "loopback `address` to answer pprof and runtime/metrics on")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "loopback `address` of a source, destination or store")
	f.StringVar(&o.source, "source", "", "`address` of the source; the sync starts one if it is empty")
	f.StringVar(&o.destination, "destination", "", "`address` of the destination; the sync starts one if it is empty")
	f.StringVar(&o.store, "store", "", "`address` of the store; the sync starts one if it is empty")
	f.IntVar(&o.tables, "tables", 500, "tables of the source")
	f.IntVar(&o.pages, "pages", 20, "pages of a table")
	f.IntVar(&o.pageRows, "page", 100, "rows of a page")
	f.DurationVar(&o.delay, "delay", 50*time.Millisecond, "time that the source's API takes for a page")
	f.BoolVar(&o.child, "child", false, "end when standard input ends")
	if err := f.Parse(args); err != nil {
		return o, "", err
	}
	if f.NArg() > 1 {
		return o, "", fmt.Errorf("one role, not %q", f.Args())
	}
	if o.tables < 1 || o.pages < 0 || o.pageRows < 1 || o.delay < 0 {
		return o, "", errors.New("-tables and -page must be at least 1, -pages and -delay not negative")
	}
	return o, f.Arg(0), nil
}

// sync runs the engine, and prints what became of it.
func (o *options) sync(ctx context.Context, out io.Writer) error {
	children, err := o.startMissing(ctx)
	defer children.stop()
	if err != nil {
		return err
	}
	e := &engine{allTables: o.fault.Has("alltables")}
	for _, end := range []struct {
		address string
		to      **grpc.ClientConn
	}{{o.source, &e.source}, {o.destination, &e.destination}} {
		if *end.to, err = dial(end.address); err != nil {
			return err
		}
		defer (*end.to).Close()
	}
	start := time.Now()
	tables, rows, err := e.sync(ctx)
	if err == nil {
		fmt.Fprintf(out, "%s: %d tables, %d rows\n", o.fault, tables, rows)
	}
	e.latency.Report(time.Since(start)).Write(out, "tables")
	return err
}
