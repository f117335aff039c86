// Run makes the corpus: it samples runs of the programs in made, faulty and
// repaired, beside something innocent, with and without a limit, does each under
// `highwater run`, and writes what is true of it beside the recording.
//
//	run [-tool FILE] [-dir DIR] [-only FAMILY,...] [-seed N] [-n N] [-at-once N] [-budget DURATION] [-list | -prove N]
//
// The runs depend on seed, family and round alone. A recording that is there is
// kept, unless its program or its run is another one now. It is to be run in the
// folder corpus, as root or where highwater may make a cgroup.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	var b bench
	flag.StringVar(&b.tool, "tool", "../bin/highwater", "the highwater to record with")
	flag.StringVar(&b.dir, "dir", "", "where recordings are kept (default: highwater-corpus in the user's cache directory)")
	flag.DurationVar(&b.budget, "budget", 40*time.Minute, "begin no run after this time")
	flag.IntVar(&b.atOnce, "at-once", 2, "how many runs at a time, 1 or 2")
	only := flag.String("only", "", "families, or setA, setB, setC, setD, setE or setF, separated by commas")
	seed := flag.Uint64("seed", 1, "what the runs are drawn by")
	n := flag.Int("n", 0, "how many runs, 0: two of each family")
	prove := flag.Int("prove", 0, "try every fix that is predicted to survive, of the runs that are recorded, so often")
	list := flag.Bool("list", false, "print the runs and do none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	from, err := chosen(strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }))
	if err != nil {
		log.Fatal("run: ", err)
	}
	if *n == 0 {
		*n = 2 * len(from)
	}
	runs := sample(*seed, *n, from)
	if *list {
		printAll(runs)
		return
	}
	if *prove > 0 {
		err = b.prove(ctx, runs, *prove)
	} else {
		err = b.doAll(ctx, runs)
	}
	if err != nil {
		log.Fatal("run: ", err)
	}
}

func printAll(runs []*run) {
	for _, r := range runs {
		fmt.Println(r.summary())
	}
}

// summary is a line about a run.
func (r *run) summary() string {
	return fmt.Sprintf("%-34s %4.0f s  background %-9s rate %5.1f MiB/s  unit %5d KiB  total %4d MiB  limit %-6s %4d MiB  GOGC %-3s  GOMEMLIMIT %4d MiB  %s",
		r.name, r.Seconds, r.Background, float64(r.Rate)/mib, r.Unit>>10, r.Total/mib, r.LimitKind, r.Limit/mib, r.GOGC, r.GOMEMLIMIT/mib, r.Toolchain)
}

// bench is where the runs are done.
type bench struct {
	tool, dir string
	budget    time.Duration
	atOnce    int
	builder   builder
}

// doAll does the runs, atOnce at a time, and goes on where one fails. It is an
// error where any did.
func (b *bench) doAll(ctx context.Context, runs []*run) error {
	if err := b.open(); err != nil {
		return err
	}
	began, queue := time.Now(), make(chan *run)
	var workers sync.WaitGroup
	var failed atomic.Int64
	for range min(max(b.atOnce, 1), 2) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for r := range queue {
				if said, err := b.do(ctx, r); err != nil {
					failed.Add(1)
					log.Printf("%s: %v", r.name, err)
				} else {
					log.Printf("%-34s %s", r.name, said)
				}
			}
		}()
	}
	begun := 0
	for _, r := range runs {
		if ctx.Err() != nil || time.Since(began) > b.budget {
			break
		}
		queue <- r
		begun++
	}
	close(queue)
	workers.Wait()
	if begun < len(runs) {
		log.Printf("%d of %d runs were not begun: do it again, what is there is kept", len(runs)-begun, len(runs))
	}
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("%d of %d runs failed", n, begun)
	}
	return ctx.Err()
}

func (b *bench) open() (err error) {
	if b.tool, err = filepath.Abs(b.tool); err != nil {
		return err
	}
	if _, err := os.Stat(b.tool); err != nil {
		return fmt.Errorf("no highwater to record with: %w; build it with make build, or give -tool", err)
	}
	if _, err := os.Stat("made"); err != nil {
		return fmt.Errorf("no programs here: %w; run it in the folder corpus", err)
	}
	if b.dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		b.dir = filepath.Join(cache, "highwater-corpus")
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	b.builder.dir = filepath.Join(b.dir, "programs")
	return os.MkdirAll(b.builder.dir, 0o755)
}
