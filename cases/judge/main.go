// Judge holds Highwater's answers against the truth of the cases: it does each
// run of every truth.json under highwater, faulty and repaired, and compares the
// outcome, the class and the line that explain gives.
//
//	judge [-tool FILE] [-times N] [-fault NAME] [-keep DIR] [-kept DIR] [-o FILE] [case ...]
//
// It prints a table, and writes it as a page with -o; and ends with an error when an answer is false, or does not
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

func main() {
	log.SetFlags(0)
	var b bench
	flag.StringVar(&b.tool, "tool", "../bin/highwater", "the highwater to judge")
	flag.StringVar(&b.keep, "keep", "", "keep the recordings in this directory")
	flag.StringVar(&b.kept, "kept", "", "do no run: judge anew what an earlier one kept in this directory")
	flag.StringVar(&b.only, "fault", "", "judge one fault only")
	flag.StringVar(&b.page, "o", "", "write the table to this file, in Markdown")
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
	tool, keep, kept, only, page string
	times                        int
	dir                          string // of the programs and the runs; removed at the end
}

func (b *bench) judge(ctx context.Context, names []string) error {
	close, err := b.open()
	if err != nil {
		return err
	}
	defer close()
	var all []*judgement
	printHead()
	for _, name := range truthfile.Cases() {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		list, err := b.prepare(ctx, name)
		if err != nil {
			return err
		}
		for _, q := range list {
			some, err := b.judgeOne(ctx, q)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", name, q.fault.Name, err)
			}
			all = append(all, some...)
		}
	}
	if b.page != "" {
		if err := writeTable(b.page, all, b.kept != ""); err != nil {
			return err
		}
	}
	return verdictOf(all)
}

// judgeOne does one run as often as it is asked to, or takes what was kept of it.
func (b *bench) judgeOne(ctx context.Context, q question) (all []*judgement, err error) {
	if b.kept != "" {
		return b.again(ctx, q)
	}
	for range b.times {
		j, err := b.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, j)
		j.print()
	}
	return all, nil
}

// verdictOf counts, and is an error where not all are right.
func verdictOf(all []*judgement) error {
	wrong := 0
	for _, j := range all {
		if !j.right() {
			wrong++
		}
	}
	fmt.Printf("\n%d of %d answers are right\n", len(all)-wrong, len(all))
	if wrong > 0 {
		return fmt.Errorf("%d answers are not right", wrong)
	}
	return nil
}

// open makes the bench's folders; close removes what it does not keep.
func (b *bench) open() (close func(), err error) {
	if b.tool, err = filepath.Abs(b.tool); err != nil {
		return nil, err
	}
	// Not in the system's temporary folder, which may be memory.
	if b.dir, err = os.MkdirTemp(".", "judge-run-"); err != nil {
		return nil, err
	}
	close = func() { os.RemoveAll(b.dir) }
	if b.dir, err = filepath.Abs(b.dir); err == nil && b.keep != "" {
		err = os.MkdirAll(b.keep, 0o755)
	}
	if err != nil {
		close()
	}
	return close, err
}

// prepare builds a case's programs and reads the questions that it asks.
func (b *bench) prepare(ctx context.Context, name string) ([]question, error) {
	t, err := truthfile.Read(name)
	if err != nil {
		return nil, err
	}
	if b.kept != "" {
		return questions(t, b.only), nil
	}
	return questions(t, b.only), b.build(ctx, t.Packages)
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
