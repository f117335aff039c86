// Truth measures every fault of the cases, faulty against repaired, by the
// kernel's figures, runtime/metrics, a profile of every allocation and the
// pages present. It prints what it saw and writes it into README.md. Highwater
// has no part in it: this is what Highwater is held against.
//
//	truth [-write=false] [-runs] [case ...]
//
// It needs a cgroup that it may write to (root, or a delegated subtree), and
// ends with an error when a fault does not show.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

// investigation measures the faults of one case.
type investigation struct {
	name    string // the program's folder
	measure func(ctx context.Context, b *bench) ([]comparison, error)
}

var investigations = []investigation{
	{"picoshare", picoshare},
	{"rangemirror", rangemirror},
	{"trafficagent", trafficagent},
	{"objectsync", objectsync},
	{"raftcache", raftcache},
}

func main() {
	write := flag.Bool("write", true, "write the tables into README.md")
	onlyRuns := flag.Bool("runs", false, "do nothing but the runs of truth.json")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flag.Args(), *write, *onlyRuns); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, names []string, write, onlyRuns bool) error {
	if _, err := os.Stat("truth"); err != nil {
		return errors.New("run it in the folder cases: go run ./truth")
	}
	// Not in the system's temporary folder, which may be memory.
	dir, err := os.MkdirTemp(".", "truth-run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	var failed []error
	for _, i := range investigations {
		if len(names) > 0 && !slices.Contains(names, i.name) || ctx.Err() != nil {
			continue
		}
		b := &bench{dir: dir, log: os.Stderr}
		if !onlyRuns {
			failed = append(failed, i.run(ctx, b, write))
		}
		its := investigation{i.name + " runs", func(ctx context.Context, b *bench) ([]comparison, error) { return runs(ctx, b, i.name) }}
		failed = append(failed, its.run(ctx, b, write))
	}
	return errors.Join(failed...)
}

func (i investigation) run(ctx context.Context, b *bench, write bool) error {
	all, err := i.measure(ctx, b)
	if err != nil {
		return fmt.Errorf("%s: %w", i.name, err)
	}
	text := table(all)
	fmt.Print(text)
	if write {
		if err := writeBetween("README.md", i.name, text); err != nil {
			return err
		}
	}
	var failed []error
	for _, c := range all {
		if !c.shows {
			failed = append(failed, fmt.Errorf("%s: %s does not show as its truth says", i.name, c.fault))
		}
	}
	return errors.Join(failed...)
}

// bench builds programs and gives them folders that are gone afterwards.
type bench struct {
	dir string
	log io.Writer
}

// build builds a package of the module, "./picoshare/load", and returns the
// program's path.
func (b *bench) build(ctx context.Context, pkg string, flags ...string) (string, error) {
	path := filepath.Join(b.dir, truthfile.Program(pkg))
	c := exec.CommandContext(ctx, "go", append(append([]string{"build", "-o", path}, flags...), pkg)...)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return path, nil
}

// folder is a new empty folder, and how to remove it.
func (b *bench) folder() (string, func(), error) {
	dir, err := os.MkdirTemp(b.dir, "")
	return dir, func() { os.RemoveAll(dir) }, err
}

// say tells whoever waits what is being done.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// loadMost is how long a load may take: far more than the seconds it needs on a
// quiet machine.
const loadMost = 4 * time.Minute

// output runs a load to its end and returns what it printed. A load whose
// server is killed fails, too.
func output(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, loadMost)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", filepath.Base(path), err, out)
	}
	return string(out), err
}
