package goheap

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
)

func TestAMarkFindsNothingByDeadWordsOnStacks(t *testing.T) {
	for _, version := range []string{"go1.20.14", "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.7", "go1.26.8", "go1.27.2"} {
		t.Run(version, func(t *testing.T) {
			path := hwtest.Build(t, filepath.Join("..", "..", "measure", "heapgraph", "testdata", "stackshapes"), hwtest.BuildOptions{Toolchain: version})
			cmd := exec.Command(path)
			cmd.Env = append(cmd.Environ(), "GOGC=off")
			p := hwtest.StartPiped(t, cmd)
			var said struct{ Dead uint64 }
			if err := json.Unmarshal([]byte(p.Line()), &said); err != nil {
				t.Fatal(err)
			}
			r := attached(t, p.PID, path)
			heap, err := heapOf(r)
			if err != nil {
				t.Fatal(err)
			}
			m := marking{heap: heap, mem: r.Memory(), ctx: t.Context(), buf: make([]byte, gomem.WindowSize), cache: spanCache{mem: r.Memory(), heap: heap}}
			if err := New(r).marker.stacks(r, &m); err != nil {
				t.Fatal(err)
			}
			if m.objects < 10 || heap.reached(said.Dead) {
				t.Errorf("stacks lead to %d objects, to what is dead: %v", m.objects, heap.reached(said.Dead))
			}
			all, err := r.ReadGoroutines()
			if err != nil {
				t.Fatal(err)
			}
			for i := range all {
				if err := m.words(all[i].SP&^7, all[i].Hi); err != nil {
					t.Fatal(err)
				}
			}
			if !heap.reached(said.Dead) {
				t.Error("no word of a stack leads to what is dead")
			}
		})
	}
}

// attached is the runtime of a program that is loaded where it was linked.
func attached(t *testing.T, pid int, path string) *gomem.Runtime {
	t.Helper()
	bin, err := gobin.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bin.Close() })
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	r, err := gomem.Attach(mem, bin, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
