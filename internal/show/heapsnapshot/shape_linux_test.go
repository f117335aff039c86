package heapsnapshot

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/lastbreath"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/measure/heapgraph"
)

// shape is the analysed heap of a program that has one of a shape.
func shape(t *testing.T, name string, n int) *heapgraph.Analysis {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	path := hwtest.Build(t, filepath.Join("..", "..", "measure", "heapgraph", "testdata", "heapshapes"), hwtest.BuildOptions{})
	cmd := hwtest.StartPiped(t, exec.Command(path, name, fmt.Sprint(n)))
	cmd.Line()
	bin, err := gobin.Open(path)
	must(err)
	t.Cleanup(func() { bin.Close() })
	start, err := (&procfs.Mapper{}).ExecutableStart("/proc", cmd.PID)
	must(err)
	mem, err := procfs.OpenMemory("/proc", cmd.PID)
	must(err)
	t.Cleanup(func() { mem.Close() })
	r, err := gomem.Attach(mem, bin, start-bin.Base())
	must(err)
	var copied *goheap.HeapCopy
	_, err = lastbreath.WhileFrozen(cmd.PID, time.Minute, func(ctx context.Context, _ *lastbreath.Freeze) error {
		copied, err = goheap.New(r).CopyHeap(ctx, 0)
		return err
	})
	must(err)
	o, err := copied.Graph(t.Context(), nil, nil)
	must(err)
	a, err := heapgraph.Analyze(t.Context(), o)
	must(err)
	return a
}
