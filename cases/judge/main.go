// Judge holds Highwater's answers against the truth of the cases: it does each
// run of every truth.json under highwater, faulty and repaired, and compares the
// outcome, the class and the line that explain gives.
//
//	judge [-tool FILE] [-times N] [-fault NAME] [-keep DIR] [case ...]
//
// It prints a table, and ends with an error when an answer is false, or does not
// say what it must. It is to be run in the folder cases, as root or where
// highwater may make a cgroup.
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
	"slices"
	"syscall"

	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

// cases are the programs, in the order of the table, with their main packages.
var cases = []struct {
	name     string
	packages []string
}{
	{"picoshare", []string{"./picoshare", "./picoshare/load"}},
	{"rangemirror", []string{"./rangemirror"}},
	{"trafficagent", []string{"./trafficagent"}},
	{"objectsync", []string{"./objectsync"}},
	{"raftcache", []string{"./raftcache", "./raftcache/load"}},
}

func main() {
	log.SetFlags(0)
	var b bench
	flag.StringVar(&b.tool, "tool", "../bin/highwater", "the highwater to judge")
	flag.StringVar(&b.keep, "keep", "", "keep the recordings in this directory")
	flag.StringVar(&b.only, "fault", "", "judge one fault only")
	flag.IntVar(&b.times, "times", 1, "how often each run is done")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.judge(ctx, flag.Args()); err != nil {
		log.Fatal("judge: ", err)
	}
}

// bench is where the runs are done.
type bench struct {
	tool, keep, only string
	times            int
	dir              string // of the programs and the runs; removed at the end
}

func (b *bench) judge(ctx context.Context, names []string) (err error) {
	if b.tool, err = filepath.Abs(b.tool); err != nil {
		return err
	}
	// Not in the system's temporary folder, which may be memory.
	if b.dir, err = os.MkdirTemp(".", "judge-run-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if b.keep != "" {
		if err := os.MkdirAll(b.keep, 0o755); err != nil {
			return err
		}
	}
	wrong, all := 0, 0
	printHead()
	for _, c := range cases {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		t, err := truthfile.Read(c.name)
		if err != nil {
			return err
		}
		if err := b.build(ctx, c.packages); err != nil {
			return err
		}
		for _, q := range questions(t, b.only) {
			for range b.times {
				j, err := b.ask(ctx, q)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", c.name, q.fault.Name, err)
				}
				all++
				if !j.right() {
					wrong++
				}
				j.print()
			}
		}
	}
	fmt.Printf("\n%d of %d answers are right\n", all-wrong, all)
	if wrong > 0 {
		return fmt.Errorf("%d answers are not right", wrong)
	}
	return nil
}

func (b *bench) build(ctx context.Context, packages []string) error {
	for _, p := range packages {
		out, err := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(b.dir, truthfile.Program(p)), p).CombinedOutput()
		if err != nil {
			return fmt.Errorf("build %s: %w\n%s", p, err, out)
		}
	}
	return nil
}
