package main

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/highwater-go/highwater/cases/internal/need"
	"github.com/highwater-go/highwater/cases/internal/symptom"
	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

func TestAnInterruptedProgramLeavesNothingBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("builds five programs")
	}
	t.Chdir("..") // where the cases are
	b := &bench{dir: t.TempDir(), log: io.Discard}
	for _, i := range investigations {
		t.Run(i.name, func(t *testing.T) {
			truth, err := truthfile.Read(i.name)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range truth.Packages {
				if _, err := b.build(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range truth.Faults {
				if f.Name != "none" {
					interrupt(t, b, f.Name, f.Runs[0])
					return // the first is enough: faults do not differ in how they end
				}
			}
		})
	}
}

// interrupt sends Ctrl-C to a program at work under its load.
func interrupt(t *testing.T, b *bench, fault string, r truthfile.Run) {
	dir, temp := t.TempDir(), t.TempDir()
	r, err := r.Expand(&truthfile.Values{Programs: b.dir, Dir: dir, Fault: fault, Address: symptom.FreeAddress})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r.Before != "" {
		begin(ctx, t, r.Before)()
	}
	if r.Beside != "" {
		defer begin(ctx, t, r.Beside)()
		defer cancel() // ends it
		if err := symptom.WaitFor(ctx, r.BesideReady); err != nil {
			t.Fatal(err)
		}
	}
	words := strings.Fields(r.Command)
	p, err := symptom.Start(symptom.Options{Path: words[0], Args: words[1:], Dir: dir, Env: []string{"TMPDIR=" + temp}})
	need.Permission(t, err)
	if r.Load != "" {
		if err := p.WaitFor(r.Ready); err != nil {
			t.Error(err)
		}
		defer begin(ctx, t, r.Load)() // ends when nobody answers, or with ctx
		defer cancel()
	}
	untilAtWork(ctx, t, p)
	if err := p.Interrupt(); err != nil {
		t.Error(err)
	}
	select {
	case <-p.Ended():
	case <-ctx.Done():
		t.Error("it did not end")
	}
	if _, err := p.Stop(); err != nil {
		t.Errorf("it left processes: %v", err) // which keep its cgroup from being removed
	}
	for _, pattern := range []string{filepath.Join(temp, "*"), filepath.Join(dir, "data", "tmp*")} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			t.Errorf("it left %v", left)
		}
	}
}

// begin starts a command, and returns how to wait for its end.
func begin(ctx context.Context, t *testing.T, command string) (wait func()) {
	t.Helper()
	words := strings.Fields(command)
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return func() { c.Wait() } // it is cut off, of course
}

// untilAtWork returns when the program has allocated more than its start takes.
func untilAtWork(ctx context.Context, t *testing.T, p *symptom.Program) {
	t.Helper()
	const start = 8 << 20
	for {
		if n, err := p.AllocatedNow(); err == nil && n > start {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-p.Ended():
			t.Error("it ended before it was interrupted")
			return
		case <-ctx.Done():
			t.Error("it did not get to work")
			return
		}
	}
}
