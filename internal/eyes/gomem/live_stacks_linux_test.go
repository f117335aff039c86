package gomem

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
)

func TestAMarkFindsNothingByDeadWordsOnStacks(t *testing.T) {
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			path := hwtest.Build(t, filepath.Join("..", "..", "measure", "heapgraph", "testdata", "stackshapes"), hwtest.BuildOptions{Toolchain: version})
			cmd := exec.Command(path)
			cmd.Env = append(cmd.Environ(), "GOGC=off")
			p := hwtest.StartPiped(t, cmd)
			var said struct{ Dead uint64 }
			if err := json.Unmarshal([]byte(p.Line()), &said); err != nil {
				t.Fatal(err)
			}
			bin, err := gobin.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer bin.Close()
			mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.PID))
			if err != nil {
				t.Fatal(err)
			}
			defer mem.Close()
			r, err := Attach(mem, bin, 0)
			if err != nil {
				t.Fatal(err)
			}
			heap, err := heapOf(r)
			if err != nil {
				t.Fatal(err)
			}
			m := marking{heap: heap, mem: r.mem, ctx: t.Context(), buf: make([]byte, windowSize), cache: spanCache{mem: r.mem, heap: heap}}
			if err := NewHeap(r).marker.stacks(r, &m); err != nil {
				t.Fatal(err)
			}
			if m.objects < 10 || heap.reached(said.Dead) {
				t.Errorf("stacks lead to %d objects, to what is dead: %v", m.objects, heap.reached(said.Dead))
			}
			all, err := r.goroutines.readAll(r.mem)
			if err != nil {
				t.Fatal(err)
			}
			for i := range all {
				if err := m.words(all[i].sp&^7, all[i].hi); err != nil {
					t.Fatal(err)
				}
			}
			if !heap.reached(said.Dead) {
				t.Error("no word of a stack leads to what is dead")
			}
		})
	}
}
