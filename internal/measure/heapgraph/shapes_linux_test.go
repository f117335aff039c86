package heapgraph

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
)

// toolchains have each way in which a heap says what its pointers are.
var toolchains = hwtest.Matrix([]string{"go1.20.14", "go1.22.12", "go1.24.13", "go1.26.8", "go1.27.2"})

// said is the program's own answer.
type said struct{ Objects, Bytes, Retained, Shape uint64 }

// shaped is a running program with one shape of heap.
type shaped struct {
	said
	pid  int
	bin  *gobin.Binary
	heap *goheap.Heap
}

func startShape(t testing.TB, o hwtest.BuildOptions, shape string, n int) *shaped {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	path := hwtest.Build(t, filepath.Join("testdata", "heapshapes"), o)
	cmd := hwtest.StartPiped(t, exec.Command(path, shape, fmt.Sprint(n)))
	p := &shaped{pid: cmd.PID}
	must(json.Unmarshal([]byte(cmd.Line()), &p.said))
	var err error
	p.bin, err = gobin.Open(path)
	must(err)
	t.Cleanup(func() { p.bin.Close() })
	hwtest.Need(t, p.bin.Supported)
	mem, err := procfs.OpenMemory("/proc", p.pid)
	must(err)
	t.Cleanup(func() { mem.Close() })
	runtime, err := gomem.Attach(mem, p.bin, p.bias(t))
	must(err)
	p.heap = goheap.New(runtime)
	return p
}

// bias is where the executable's start is mapped, less where it asked for.
func (p *shaped) bias(t testing.TB) uint64 {
	var m procfs.Mapper
	mappings, err := m.Mappings("/proc", p.pid)
	if err != nil {
		t.Fatal(err)
	}
	exe, _ := procfs.Exe("/proc", p.pid)
	for i := range mappings {
		if mappings[i].Offset == 0 && mappings[i].Path == exe {
			return mappings[i].Start - p.bin.Base()
		}
	}
	t.Fatal("the executable is not mapped")
	return 0
}

// analyze stops the program, copies its heap, and finds who holds it.
func (p *shaped) analyze(t testing.TB) *Analysis {
	t.Helper()
	o, _, _ := p.graph(t)
	a, err := Analyze(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	a.checkRetained(t)
	return a
}

// checkRetained compares what objects retain as their paths tell it, where these can,
// with what the dominator tree says.
func (a *Analysis) checkRetained(t testing.TB) {
	t.Helper()
	all, alone := a.allRetained(), 0
	for i := 1; i < len(all); i++ {
		node := a.tree.Node[i]
		if p := &a.paths[a.pathOf[i]]; node < uint32(a.Objects.Count) && p.objects == 1 && !p.spills {
			alone++
			if got := a.Retained(node); got != all[i] {
				t.Errorf("%s retains %d bytes, told by its path %d", a.PathOf(node), all[i], got)
			}
		}
	}
	if alone == 0 {
		t.Error("no object lies on its path alone")
	}
}

// The shapes, what of the program holds each, and how the path of the largest
// holder begins; to is it where the compiler says no types of variables.
var shapes = []struct{ name, root, holder string }{
	{"map", "main.cache", "main.cache.entries[].body"},
	{"intmap", "main.counts", "main.counts"},
	{"slice", "main.orders", "main.orders"},
	{"queue", "main.queue", "main.queue"},
	{"list", "main.head", "main.head"},
	{"tree", "main.top", "main.top"},
	{"folder", "main.files", "main.files"},
	{"strings", "main.names", "main.names"},
	{"substring", "main.tokens", "main.tokens[]"},
	{"channel", "main.results", "main.results[]"},
	{"interface", "main.animals", "main.animals"},
	{"closure", "main.callbacks", "main.callbacks"},
	{"finalizer", "main.ring", "main.ring"},
	{"context", "main.chain", "main.chain"},
	{"lru", "main.recent", "main.recent"},
	{"timers", "", "runtime.allp"},
	{"defers", "goroutine main.defers.func1", "goroutine main.defers.func1 in its descriptor"},
	{"blocked", "goroutine main.", "goroutine main."},
	{"shared", "goroutine main.serve", "goroutine main.serve.func1 and others"},
}

// noise is what the runtime allocates for itself between the program's own
// measurement and ours: descriptors of threads and goroutines, the answer's text.
const (
	noiseBytes   = 32 << 10
	noiseObjects = 200
)

func near(got, want, noise uint64) bool { return got+noise >= want && got <= want+noise }

func TestTheHolderOfEveryShapeIsNamedAndRetainsWhatGoesWithIt(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	const n = 3000
	for _, version := range toolchains {
		for _, s := range shapes {
			t.Run(version+"/"+s.name, func(t *testing.T) {
				p := startShape(t, hwtest.BuildOptions{Toolchain: version}, s.name, n)
				a := p.analyze(t)
				if !near(a.LiveSize, p.Bytes, noiseBytes) || !near(a.Live, p.Objects, noiseObjects) {
					t.Errorf("%d objects of %d bytes are live, the runtime says %d of %d", a.Live, a.LiveSize, p.Objects, p.Bytes)
				}
				if h := a.Holders(); len(h) == 0 || !strings.HasPrefix(h[0].Path, s.holder) {
					t.Errorf("the largest holder is %+v, want %s", h, s.holder)
				}
				if objects, bytes := a.Root(s.root); strings.HasPrefix(s.root, "main.") &&
					(!near(bytes, p.Retained, noiseBytes/4) || !near(objects, p.Shape, noiseObjects/4)) {
					t.Errorf("%s retains %d objects of %d bytes; %d of %d go with it", s.root, objects, bytes, p.Shape, p.Retained)
				}
			})
		}
	}
}

func TestAStrippedProgramsHolderIsAVariableAtAnAddress(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		for _, s := range shapes {
			if !strings.HasPrefix(s.root, "main.") {
				continue
			}
			t.Run(version+"/"+s.name, func(t *testing.T) {
				p := startShape(t, hwtest.BuildOptions{Toolchain: version, Strip: true, PIE: true}, s.name, 3000)
				a := p.analyze(t)
				if !near(a.LiveSize, p.Bytes, noiseBytes) || !near(a.Live, p.Objects, noiseObjects) {
					t.Errorf("%d objects of %d bytes are live, the runtime says %d of %d", a.Live, a.LiveSize, p.Objects, p.Bytes)
				}
				h := a.Holders()
				if len(h) == 0 || !strings.HasPrefix(h[0].Path, "a variable at 0x") {
					t.Fatalf("the largest holder is %+v", h)
				}
				whole := uint64(0)
				for _, x := range h {
					if strings.HasPrefix(x.Path, "a variable at 0x") {
						whole += x.Retained
					}
				}
				if whole*10 < p.Retained*7 {
					t.Errorf("variables hold %d bytes, %d go with the shape", whole, p.Retained)
				}
			})
		}
	}
}

func TestAVariableOfAPointerTypeThatTheProgramDoesWithoutHasATypeStill(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			p := startShape(t, hwtest.BuildOptions{Toolchain: version}, "tree", 3000)
			for _, u := range p.analyze(t).TypesByBytes() {
				if u.Type == "main.branch" && u.Objects == 2047 {
					return // newTree(3000) has eleven full levels
				}
			}
			t.Error("the branches of main.top have no type")
		})
	}
}
