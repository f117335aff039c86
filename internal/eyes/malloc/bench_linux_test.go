package malloc

import (
	"bufio"
	"os/exec"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// BenchmarkRead reads 243 MB in four arenas, and 80 MB in a million small blocks.
func BenchmarkRead(b *testing.B) {
	for _, mode := range []string{"arenas", "small", "sparse"} {
		b.Run(mode, func(b *testing.B) {
			cmd := exec.Command(hwtest.Build(b, "testdata/target", hwtest.BuildOptions{CGO: true}), mode)
			in, err1 := cmd.StdinPipe()
			out, err2 := cmd.StdoutPipe()
			if err1 != nil || err2 != nil || cmd.Start() != nil {
				b.Fatal(err1, err2)
			}
			b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				b.Fatal(err)
			}
			mem, err := procfs.OpenMemory("/proc", cmd.Process.Pid)
			if err != nil {
				b.Fatal(err)
			}
			defer mem.Close()
			b.ReportAllocs()
			for b.Loop() {
				m, err := OfProcess(new(procfs.Mapper), mem, "/proc", cmd.Process.Pid, time.Now().Add(time.Minute))
				if err != nil || m.InUse == 0 {
					b.Fatal(m, err)
				}
			}
		})
	}
}
