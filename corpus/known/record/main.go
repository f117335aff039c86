// Record makes recordings of the programs of corpus/known, of one group of them, and
// writes what is true of each beside it, for the judge:
//
//	cd corpus && go run ./known/record -group "sealed 2" -dir DIR
//	cd corpus && go run ./judge -dir DIR
//
// Each program is run four times: with the faulty and with the repaired version of
// its module, with room and under the limit of its truth.json. What is there is kept.
// It is to be run as root or where highwater may make a cgroup.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/corpus/truth"
)

func main() {
	log.SetFlags(0)
	var b bench
	flag.StringVar(&b.tool, "tool", "../bin/highwater", "the highwater to record with")
	flag.StringVar(&b.dir, "dir", "", "where the programs and their recordings are put")
	flag.StringVar(&b.from, "from", "known", "the folder corpus/known")
	group := flag.String("group", "", "the programs of this group only: "+strings.Join(groups, ", "))
	only := flag.String("only", "", "these programs only, separated by commas")
	atOnce := flag.Int("at-once", 2, "how many runs at a time")
	list := flag.Bool("list", false, "print the runs and do none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	programs, err := choose(b.from, *group, strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }))
	if err != nil {
		log.Fatal("record: ", err)
	}
	runs, err := runsOf(programs)
	if err != nil {
		log.Fatal("record: ", err)
	}
	if *list {
		for _, r := range runs {
			fmt.Printf("%-28s %s\n", r.Name, r.Run.Command)
		}
		return
	}
	if err := b.doAll(ctx, programs, runs, *atOnce); err != nil {
		log.Fatal("record: ", err)
	}
}

// bench is where the runs are done.
type bench struct{ tool, dir, from string }

// doAll builds the programs and does the runs, atOnce at a time. It goes on where one
// fails, and is an error where any did.
func (b *bench) doAll(ctx context.Context, programs []*program, runs []*truth.Truth, atOnce int) error {
	if err := b.open(); err != nil {
		return err
	}
	if err := b.build(ctx, programs); err != nil {
		return err
	}
	var workers sync.WaitGroup
	var failed atomic.Int64
	queue := make(chan *truth.Truth)
	for range max(atOnce, 1) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for t := range queue {
				said, err := b.do(ctx, t)
				if err != nil {
					failed.Add(1)
					said = err.Error()
				}
				log.Printf("%-28s %s", t.Name, said)
			}
		}()
	}
	for _, t := range runs {
		if ctx.Err() == nil {
			queue <- t
		}
	}
	close(queue)
	workers.Wait()
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("%d of %d runs failed", n, len(runs))
	}
	return ctx.Err()
}

func (b *bench) open() (err error) {
	if b.dir == "" {
		return fmt.Errorf("no directory for the recordings: give one with -dir DIR")
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if b.tool, err = filepath.Abs(b.tool); err != nil {
		return err
	}
	if _, err := os.Stat(b.tool); err != nil {
		return fmt.Errorf("no highwater to record with: %w; build it with make build, or give -tool", err)
	}
	return os.MkdirAll(b.programs(), 0o755)
}

func (b *bench) programs() string { return filepath.Join(b.dir, "programs") }

// build leaves the building to the program that does it by hand, too.
func (b *bench) build(ctx context.Context, programs []*program) error {
	args := []string{"run", ".", "-o", b.programs()}
	for _, p := range programs {
		args = append(args, p.Name)
	}
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = filepath.Join(b.from, "build")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
}

// do records one run and writes its truth, unless it is there already.
func (b *bench) do(ctx context.Context, t *truth.Truth) (said string, err error) {
	binary := filepath.Join(b.programs(), strings.TrimSuffix(t.Name, limited))
	if t.Run.Program, err = sum(binary); err != nil {
		return "", err
	}
	file := filepath.Join(b.dir, t.Name+truth.Suffix)
	if old, err := truth.Read(file); err == nil && old.Run == t.Run {
		if _, err := os.Stat(truth.Recording(file)); err == nil {
			return "kept", t.Write(file)
		}
	}
	began := time.Now()
	code, err := b.record(ctx, t, binary, truth.Recording(file))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("ended with %d after %.1f s", code, time.Since(began).Seconds()), t.Write(file)
}
