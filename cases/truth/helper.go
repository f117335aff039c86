package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/pprof/profile"

	"github.com/highwater-go/highwater/cases/internal/symptom"
	"github.com/highwater-go/highwater/cases/internal/truthfile"
)

// allocated and cycles are of a whole run.
var allocated = func(f symptom.Figures) uint64 { return f.Allocated }

func counts(what string, faulty, repaired uint64) row {
	return row{what, fmt.Sprint(faulty), fmt.Sprint(repaired)}
}

func took(faulty, repaired time.Duration) row {
	return row{"time taken", fmt.Sprintf("%.1f s", faulty.Seconds()), fmt.Sprintf("%.1f s", repaired.Seconds())}
}

// under adds up the samples of a profile whose stacks pass through the line that
// truth.json names: what that line and all that it called allocated. What the
// looking itself allocated, in the probe, is left out of the whole.
func under(p *profile.Profile, dir, fault, kind string) (n int64, share float64, err error) {
	t, err := truthfile.Read(dir)
	if err != nil {
		return 0, 0, err
	}
	want, column := t.Fault(fault), -1
	if want == nil || p == nil {
		return 0, 0, fmt.Errorf("%s: no truth, or no profile, of %s", dir, fault)
	}
	for i, s := range p.SampleType {
		if s.Type == kind {
			column = i
		}
	}
	if column < 0 {
		return 0, 0, fmt.Errorf("%s: the profile has no %s", dir, kind)
	}
	all := int64(0)
	for _, s := range p.Sample {
		if ofProbe(s) {
			continue
		}
		all += s.Value[column]
		if passes(s, filepath.Base(want.File), int64(want.Line)) {
			n += s.Value[column]
		}
	}
	return n, float64(n) / float64(max(all, 1)), nil
}

func passes(s *profile.Sample, file string, line int64) bool {
	for _, l := range s.Location {
		for _, at := range l.Line {
			if at.Line == line && at.Function != nil && filepath.Base(at.Function.Filename) == file && strings.HasPrefix(at.Function.Name, "main.") {
				return true
			}
		}
	}
	return false
}

func ofProbe(s *profile.Sample) bool {
	for _, l := range s.Location {
		for _, at := range l.Line {
			if f := at.Function; f != nil && (strings.HasPrefix(f.Name, "runtime/pprof.") || strings.Contains(f.Name, "/internal/probe.")) {
				return true
			}
		}
	}
	return false
}

func underText(n int64, share float64) string {
	return fmt.Sprintf("%s, %.0f%% of all", mib(uint64(n)), 100*share)
}

// printed collects what a program prints, and tells who waits for a word of it.
type printed struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// waitFor returns when the text is printed, the program ends or ctx does; in
// the latter two cases with an error.
func (p *printed) waitFor(ctx context.Context, text string, ended <-chan struct{}) error {
	for !strings.Contains(p.String(), text) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return fmt.Errorf("it ended before it printed %q: %s", text, p)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// helper starts a program that is not measured, and returns how to end it.
func helper(ctx context.Context, out io.Writer, path string, args ...string) (stop func() error, err error) {
	c := exec.CommandContext(ctx, path, args...)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() error {
		c.Process.Signal(syscall.SIGTERM)
		var exit *exec.ExitError
		if err := c.Wait(); err != nil && !errors.As(err, &exit) {
			return err
		}
		return nil
	}, nil
}
