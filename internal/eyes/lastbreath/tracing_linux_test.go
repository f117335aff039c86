package lastbreath

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// BenchmarkTracing is the CPU time and the wall time of a fixed job with many
// collections, by how it is followed. Nothing but the tracer differs.
func BenchmarkTracing(b *testing.B) {
	for _, c := range []struct {
		name    string
		traced  bool
		follows Following
	}{{"untraced", false, Never}, {"never", true, Never}, {"budget", true, WithinBudget}, {"always", true, Always}} {
		b.Run(c.name, func(b *testing.B) {
			var cpu time.Duration
			for b.Loop() {
				cpu += job(b, c.traced, Options{FollowForks: c.follows})
			}
			b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// job runs the job to its end and returns the CPU time that it says it took.
func job(b *testing.B, traced bool, o Options) (cpu time.Duration) {
	b.Helper()
	stdin, in, _ := os.Pipe()
	out, stdout, _ := os.Pipe()
	defer func() { in.Close(); out.Close() }()
	c := Command{Path: target, Args: []string{target, "work"}, Env: os.Environ(), Files: []*os.File{stdin, stdout}}
	if traced {
		tracer, log := newTracer(b, o, nil)
		defer tracer.Close()
		pid, err := tracer.Start(c)
		if err != nil {
			b.Fatal(err)
		}
		defer log.wait(b, fmt.Sprintf("gone %d exit 0", pid))
	} else {
		process, err := os.StartProcess(c.Path, c.Args, &os.ProcAttr{Env: c.Env, Files: c.Files})
		if err != nil {
			b.Fatal(err)
		}
		defer process.Wait()
	}
	stdin.Close()
	stdout.Close()
	var addr, pid, ns int64
	if _, err := fmt.Fscan(out, &addr, &pid, &ns); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ns)
}
