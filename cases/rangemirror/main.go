// Rangemirror copies ranges of breached password hashes from a server into an
// object store: it fetches the 16^3 answers that share two digits, 64 at a time,
// packs them into a tar archive in memory, and stores that; then it takes the
// next two digits. All of it happens in one arena that is made once.
//
//	rangemirror serve                     an origin of synthetic ranges and a store
//	rangemirror [-fault NAME] [-manual]   the mirror
//
// It deliberately holds a whole archive, as the program did that it is modelled
// on: what it should use is known beforehand, about 300 MB, and the question is
// why it uses 700.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/highwater-go/highwater/cases/internal/faults"
	"github.com/highwater-go/highwater/cases/internal/latency"
	"github.com/highwater-go/highwater/cases/internal/probe"
	"github.com/highwater-go/highwater/cases/internal/program"
)

// knownFaults are explained in truth.json.
var knownFaults = []string{"defaults", "reserved"}

const (
	defaultOrigin = "127.0.0.1:18501"
	defaultStore  = "127.0.0.1:18502"
	bucket        = "ranges"
	digits        = 5 // of a range's name
)

func main() {
	program.Main("rangemirror", func(ctx context.Context, args []string, out io.Writer) error {
		if len(args) > 0 && args[0] == "serve" {
			return serveCommand(ctx, args[1:], out)
		}
		return mirrorCommand(ctx, args, out)
	})
}

// mirrorCommand copies prefixes and prints what became of each, and how long
// the answers took.
func mirrorCommand(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("rangemirror", flag.ContinueOnError)
	fault := faults.Flag(f, knownFaults...)
	originAddress := f.String("origin", defaultOrigin, "`address` of the server of ranges")
	storeAddress := f.String("store", defaultStore, "`address` of the object store")
	prefixes := f.Int("prefixes", 32, "how many of the 256 prefixes to copy")
	workers := f.Int("workers", 64, "how many ranges to fetch at once")
	manual := f.Bool("manual", false, "collect garbage after each prefix, even with -fault defaults")
	debugAddress := f.String("debug", "", "loopback `address` to answer pprof and runtime/metrics on")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *prefixes < 1 || *prefixes > 256 || *workers < 1 {
		return errors.New("-prefixes must be 1 to 256, -workers at least 1")
	}
	if err := probe.Start(ctx, *debugAddress); err != nil {
		return err
	}

	var answers latency.Log
	m := newMirror(fault, "http://"+*originAddress, "http://"+*storeAddress+"/"+bucket, digits, *workers)
	m.collect = m.collect || *manual
	m.latency = func(d time.Duration) { answers.Add(d, nil) }
	start := time.Now()
	err := m.run(ctx, *prefixes, func(prefix string, size int) {
		fmt.Fprintf(out, "%s %6.2fs  %s.tar %d bytes\n", fault, time.Since(start).Seconds(), prefix, size)
	})
	answers.Report(time.Since(start)).Write(out, "ranges")
	return err
}

// newMirror makes a mirror of ranges whose names have so many digits, with the
// faults it is asked to have.
func newMirror(fault *faults.Set, origin, store string, digits, workers int) *mirror {
	defaults := fault.Has("defaults")
	return &mirror{
		client:  newClient(workers, defaults),
		origin:  origin,
		store:   store,
		workers: workers,
		digits:  digits,
		collect: !defaults,
		// The program of the article reserved, and had the defaults.
		arena: newArena(1<<(4*(digits-2)), defaults || fault.Has("reserved")),
	}
}
