package watch

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/faultprofile"
)

// BenchmarkGrowth is what sampling costs a program that touches 4 KiB pages of its own for the first
// time: its processor time for each, with the event and its BPF program and without. The ring
// is left full: it is read by another process.
func BenchmarkGrowth(b *testing.B) {
	path := hwtest.Build(b, "testdata/resident", hwtest.BuildOptions{CGO: true})
	for _, period := range []uint64{0, faultprofile.Period} {
		name := "without"
		if period > 0 {
			name = "sampled"
		}
		b.Run(name, func(b *testing.B) {
			faults, spent := int64(0), time.Duration(0)
			for b.Loop() {
				n, took := growOnce(b, path, period)
				faults, spent = faults+n, spent+took
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(faults), "ns/fault")
		})
	}
}

// growOnce runs the program, which touches 256 MiB; its minor faults and its processor time.
func growOnce(b *testing.B, path string, period uint64) (int64, time.Duration) {
	cmd := exec.Command(path, "-only", "wait-mmap", "-each", "1048576", "-rounds", "256")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if period > 0 {
		p := profiler(b, period)
		if err := p.Attach("/proc", cmd.Process.Pid); err != nil {
			b.Fatal(err)
		}
		g, err := OpenGo("/proc", cmd.Process.Pid)
		if err != nil {
			b.Fatal(err)
		}
		target, err := faultTarget(&process{bin: g.Binary, bias: g.Bias, mem: g.Memory})
		if err != nil {
			b.Fatal(err)
		}
		g.Close()
		if err := p.Know(cmd.Process.Pid, target); err != nil {
			b.Fatal(err)
		}
		defer func() {
			if c := p.Cost(); c.Samples > 0 {
				b.ReportMetric(float64(c.Nanos)/float64(c.Samples), "ns/sample")
			}
		}()
	}
	if _, err := in.Write([]byte{1}); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return used.Minflt, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
