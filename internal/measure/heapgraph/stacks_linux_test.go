package heapgraph

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/procfs"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// stacked is testdata/stackshapes or runningshapes as it runs.
type stacked struct {
	shaped
	memory *procfs.Memory
	cmd    *hwtest.Piped

	Shapes     int
	Dead, Near uint64
	Bytes      uint64
}

func startStacks(t *testing.T, o hwtest.BuildOptions) *stacked {
	return startShapes(t, o, "stackshapes", "off")
}

func startShapes(t *testing.T, o hwtest.BuildOptions, program, gogc string) *stacked {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	path := hwtest.Build(t, filepath.Join("testdata", program), o)
	cmd := exec.Command(path)
	cmd.Env = append(cmd.Environ(), "GOGC="+gogc)
	p := &stacked{cmd: hwtest.StartPiped(t, cmd)}
	p.pid = p.cmd.PID
	p.says(t)
	var err error
	p.bin, err = gobin.Open(path)
	must(err)
	t.Cleanup(func() { p.bin.Close() })
	hwtest.Need(t, p.bin.Supported)
	p.memory, err = procfs.OpenMemory("/proc", p.pid)
	must(err)
	t.Cleanup(func() { p.memory.Close() })
	runtime, err := gomem.Attach(p.memory, p.bin, p.bias(t))
	must(err)
	p.heap = goheap.New(runtime)
	return p
}

// says reads a line of the program.
func (p *stacked) says(t *testing.T) {
	t.Helper()
	if err := json.Unmarshal([]byte(p.cmd.Line()), p); err != nil {
		t.Fatal(err)
	}
}

// size is that of a shape's object.
func (p *stacked) size(shape int) uint64 { return 1<<20 + uint64(shape)<<16 }

// bySize is which shapes' objects there are, and the paths of those that live.
func (p *stacked) bySize(t *testing.T, a *Analysis) (there map[int]bool, live map[int]string) {
	t.Helper()
	there, live = make(map[int]bool), make(map[int]string)
	a.Objects.Sizes(func(first, end uint32, size uint64) {
		for i := range p.Shapes + 1 {
			for id := first; id < end && size == p.size(i); id++ {
				there[i], live[i] = true, cmp.Or(live[i], a.PathOf(id))
			}
		}
	})
	return there, live
}

func TestWhatIsAliveOnStacksIsWhatTheCollectorFindsThere(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		for name, o := range map[string]hwtest.BuildOptions{"plain": {Toolchain: version}, "stripped": {Toolchain: version, Strip: true, PIE: true}} {
			t.Run(version+"/"+name, func(t *testing.T) {
				p := startStacks(t, o)
				before := p.analyze(t)
				there, live := p.bySize(t, before)
				if !p.onStack(t) {
					t.Error("no word of the stack has the address of what is dead")
				}
				io.WriteString(p.cmd.In, "\n")
				p.says(t)
				kept, _ := p.bySize(t, p.analyze(t))
				if f := before.Objects.Frames; f.Exact < 10*f.Whole {
					t.Errorf("%d frames have maps, %d have none", f.Exact, f.Whole)
				}
				for i := range p.Shapes + 1 {
					if !there[i] || (live[i] != "") != kept[i] {
						t.Errorf("shape %d: there %v, held by %q; the runtime keeps it: %v", i, there[i], live[i], kept[i])
					}
				}
				if kept[p.Shapes] {
					t.Error("the runtime keeps what is dead, too")
				}
			})
		}
	}
}

// bodySize is that of the body of one of testdata/runningshapes.
func bodySize(shape int) uint64 { return 320<<10 + uint64(shape)<<13 }

func TestWhatRunsKeepsWhatItWorksOn(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	builds := map[string]hwtest.BuildOptions{"race": {Race: true}}
	for _, version := range toolchains {
		builds[version] = hwtest.BuildOptions{Toolchain: version, Strip: true}
	}
	for name, o := range builds {
		t.Run(name, func(t *testing.T) {
			p := startShapes(t, o, "runningshapes", "")
			for n := range 25 {
				a := p.analyze(t)
				alive := make(map[uint64]bool)
				a.Objects.Sizes(func(first, end uint32, size uint64) {
					for id := first; id < end && size >= bodySize(0); id++ {
						alive[size] = alive[size] || a.PathOf(id) != ""
					}
				})
				for i := range p.Shapes {
					if !alive[bodySize(i)] {
						t.Fatalf("stop %d: the body of shape %d is garbage", n, i)
					}
				}
			}
		})
	}
}

func TestADeadWordOfAFrameBelowOneThatRunsHoldsNothing(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			p := startShapes(t, hwtest.BuildOptions{Toolchain: version, Strip: true}, "runningshapes", "off")
			const stops = 20
			unknown := 0 // stops in the few instructions by which a stack is changed, where all words count
			for range stops {
				a := p.analyze(t)
				id, ok := a.Objects.At(p.Dead)
				switch path := a.PathOf(id); {
				case ok && path == "":
				case ok && strings.HasSuffix(path, " in "+sample.WholeStack), ok && strings.HasSuffix(path, " in runtime.asyncPreempt"):
					unknown++ // or it was interrupted, and assembly says nothing of its words
				default:
					t.Fatalf("it is an object %v, at %q", ok, path)
				}
			}
			if unknown > stops/2 {
				t.Errorf("in %d of %d stops the frames were not known", unknown, stops)
			}
		})
	}
}

// onStack says whether the dead object's address lies near to where the program says
// that its frame is.
func (p *stacked) onStack(t *testing.T) bool {
	t.Helper()
	const around = 512
	b := make([]byte, 2*around)
	if _, err := p.memory.ReadAt(b, int64(p.Near&^7-around)); err != nil {
		t.Fatal(err)
	}
	for ; len(b) > 0; b = b[8:] {
		if binary.LittleEndian.Uint64(b) == p.Dead {
			return true
		}
	}
	return false
}

// A dead pointer led to a struct of strings, whose memory is another struct's now: what that leads to
// are no bytes of a string, so that its type is the one that the other pointers say.
func TestReusedMemoryHasTheTypeOfWhatItIsNow(t *testing.T) {
	hwtest.Need(t, hwtest.Ptrace)
	for _, version := range toolchains {
		t.Run(version, func(t *testing.T) {
			a := startShapes(t, hwtest.BuildOptions{Toolchain: version}, "reused", "off").analyze(t)
			got := map[string]uint64{}
			for _, u := range a.TypesByBytes() {
				got[u.Type] = u.Objects
			}
			if got["main.conn"] != 100 || got["main.server"] != 100 || got["main.accept"] != 0 {
				t.Errorf("%d connections, %d servers and %d of what was freed", got["main.conn"], got["main.server"], got["main.accept"])
			}
		})
	}
}
