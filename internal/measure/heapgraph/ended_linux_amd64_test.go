package heapgraph

import (
	"syscall"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// As at the end of a process, when the registers of its threads are gone: the frames of a goroutine that never
// stopped running are told by its stack alone.
func TestTheFramesOfARunningGoroutineKeepWhatIsTheirsAtTheEnd(t *testing.T) {
	hwtest.Need(t)
	want := []string{"goroutine runtime.main in main.start", "goroutine runtime.main in main.(*inner).work", "goroutine runtime.main in main.spin",
		"goroutine runtime.main in main.main"}
	for _, version := range toolchains {
		for name, o := range map[string]hwtest.BuildOptions{"plain": {Toolchain: version}, "stripped": {Toolchain: version, Strip: true, PIE: true}} {
			t.Run(version+" "+name, func(t *testing.T) {
				p := startShapes(t, o, "endshapes", "off")
				for {
					if err := syscall.Kill(p.pid, syscall.SIGSTOP); err != nil {
						t.Fatal(err)
					}
					copied, err := p.heap.CopyHeap(t.Context(), 0)
					if err != nil {
						t.Fatal(err)
					}
					if err := copied.Ended(); err != nil {
						t.Fatal(err)
					}
					o, err := copied.Graph(t.Context(), nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					a, err := Analyze(t.Context(), o)
					if err != nil {
						t.Fatal(err)
					}
					there, live := p.bySize(t, a)
					if !there[2] {
						if err := syscall.Kill(p.pid, syscall.SIGCONT); err != nil {
							t.Fatal(err)
						}
						continue // it has not begun
					}
					for shape, in := range want {
						if got := live[shape]; len(got) < len(in) || got[:len(in)] != in {
							t.Errorf("the table %d lies at %q, not in %q", shape, got, in)
						}
					}
					return
				}
			})
		}
	}
}
