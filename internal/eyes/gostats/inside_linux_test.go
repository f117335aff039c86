package gostats

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// target is a program that obeys; the tests of package gomem have more of it.
type target struct {
	ask   func(format string, args ...any) []string
	mem   *os.File
	bin   *gobin.Binary
	stats *Stats
}

func start(t *testing.T) *target {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	path := hwtest.Build(t, filepath.Join("..", "gomem", "testdata", "target"), hwtest.BuildOptions{Toolchain: "go1.27.2"})
	p := hwtest.StartPiped(t, exec.Command(path))
	bin, err := gobin.Open(path)
	must(err)
	t.Cleanup(func() { bin.Close() })
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.PID))
	must(err)
	t.Cleanup(func() { mem.Close() })
	p.Ask("gc")
	r, err := gomem.Attach(mem, bin, 0)
	must(err)
	return &target{ask: p.Ask, mem: mem, bin: bin, stats: New(r)}
}

func TestBucketsBeyondTheLimitAreCounted(t *testing.T) {
	p := start(t)
	p.ask("nogc")
	p.ask("rate 1")
	p.ask("sites 400")
	whole := start(t).stats // any: to know that nothing is left out by itself
	var prof sample.HeapProfile
	if err := whole.Profile(&prof); err != nil || prof.Left != 0 {
		t.Fatalf("%d buckets are left of a small profile, %v", prof.Left, err)
	}
	if err := p.stats.Profile(&prof); err != nil {
		t.Fatal(err)
	}
	rt, err := gomem.Attach(p.mem, p.bin, 0)
	if err != nil {
		t.Fatal(err)
	}
	again := New(rt)
	again.profile.limit = 100
	for _, more := range []int{0, 300} { // left at the first walk, and at a later one
		p.ask("sites %d", 400+more)
		if err := p.stats.Profile(&prof); err != nil {
			t.Fatal(err)
		}
		all := len(prof.Counts)
		if err := again.Profile(&prof); err != nil {
			t.Fatal(err)
		}
		if len(prof.Counts) != 100 || prof.Left != all-100 || len(again.Buckets(0)) != 100 {
			t.Errorf("%d buckets, %d left of %d", len(prof.Counts), prof.Left, all)
		}
	}
}

func TestAListOfBucketsWithoutAnEndIsRefused(t *testing.T) {
	p := start(t)
	p.ask("rate 1")
	p.ask("sites 20")
	p.ask("rate 0")
	if err := p.stats.Profile(new(sample.HeapProfile)); err != nil {
		t.Fatal(err)
	}
	reader := &p.stats.profile
	oldest := reader.records[0] - reader.header - 8*uint64(reader.depths[0])
	circle := overlay{p.mem, int64(oldest + reader.next), reader.newest}
	rt, err := gomem.Attach(circle, p.bin, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := New(rt).Profile(new(sample.HeapProfile)); err == nil {
		t.Error("a list that leads into itself is read")
	}
}

// overlay is a memory of which one word reads differently.
type overlay struct {
	io.ReaderAt
	at   int64
	word uint64
}

func (o overlay) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.ReaderAt.ReadAt(p, off)
	for i := range 8 {
		if k := o.at + int64(i) - off; k >= 0 && k < int64(n) {
			p[k] = byte(o.word >> (8 * i))
		}
	}
	return n, err
}
