package gomem_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/words/sample"
)

// said is what the program says of itself before it is held.
type said struct {
	profile    counts
	goroutines map[string]int
	stats      map[string]uint64
}

// memories are the ways to have the memory of the held program. A new kind of
// Memory is one more row.
var memories = []struct {
	name   string
	need   func() error
	attach func(*target) (*gomem.Runtime, error)
}{
	{"live", nil, func(p *target) (*gomem.Runtime, error) { return gomem.Attach(p.mem, p.bin, p.bias) }},
	{"gcore", hwtest.Program("gcore"), func(p *target) (*gomem.Runtime, error) { return p.attachCore(p.gcore()) }},
	{"kernel", kernelWritesCores, func(p *target) (*gomem.Runtime, error) { return p.attachCore(p.crash()) }},
}

// dumped are the builds that a debugger dumps, which takes seconds: the oldest,
// the newest, and one with C.
var dumped = []build{builds()[0], newest, {toolchain: "go1.26.8", mode: "cgo"}}

// TestEveryMemoryConforms reads the same program from every kind of memory and
// wants what the program says of itself.
func TestEveryMemoryConforms(t *testing.T) {
	for _, b := range builds() {
		t.Run(b.String(), func(t *testing.T) {
			p := start(t, b, "GOTRACEBACK=crash", "GOMAXPROCS=2")
			p.ask("nogc")
			p.ask("rate 1")
			p.ask("sites 200")
			p.ask("rate 0")
			p.ask("goroutines 20")
			p.ask("labels 5")
			p.ask("gc")
			told := said{profile: p.saidProfile(), goroutines: p.saidGoroutines(), stats: p.said()}
			if err := p.hold(); err != nil {
				t.Fatal(err)
			}
			var live *sample.Liveness
			for _, m := range memories {
				if m.name == "gcore" && !slices.Contains(dumped, b) {
					continue
				}
				t.Run(m.name, func(t *testing.T) {
					if m.need != nil {
						hwtest.Need(t, m.need)
					}
					rt, err := m.attach(p.as(t))
					if err != nil {
						t.Fatal(err)
					}
					live = p.as(t).conforms(rt, told, live)
				})
			}
		})
	}
}

// as is the target for a part of the test.
func (p *target) as(t *testing.T) *target {
	sub := *p
	sub.t = t
	return &sub
}

// conforms compares everything that can be read with what the program said, and
// what it did not say with the memory before.
func (p *target) conforms(rt *gomem.Runtime, told said, live *sample.Liveness) *sample.Liveness {
	p.t.Helper()
	p.take(rt)
	if published, _ := p.seenProfile(); !maps.Equal(told.profile, published) {
		p.t.Errorf("the heap profile differs in %v", differing(told.profile, published))
	}
	if got := p.seenGoroutines(); !maps.Equal(told.goroutines, got) {
		p.t.Errorf("the program says\n%s\nread was\n%s", show(told.goroutines, got), show(got, told.goroutines))
	}
	var counters sample.Runtime
	if err := p.stats.Counters(&counters); err != nil {
		p.t.Fatal(err)
	}
	stats := seen(&counters)
	for _, exact := range []string{"NumGC", "NumForcedGC", "LastGC", "PauseTotalNs", "BuckHashSys", "MCacheSys"} {
		if stats[exact] != told.stats[exact] {
			p.t.Errorf("%s is %d, read as %d", exact, told.stats[exact], stats[exact])
		}
	}
	// With GOGC off the goal is what the limit leaves, which moves with every page that
	// the runtime maps.
	if off := int64(stats["NextGC"] - told.stats["NextGC"]); off < -1<<20 || off > 1<<20 {
		p.t.Errorf("NextGC is %d, read as %d", told.stats["NextGC"], stats["NextGC"])
	}
	p.labelled(5)
	p.sums(&counters)
	got, err := p.heap.LiveObjects(p.t.Context(), p.stats)
	if err != nil {
		p.t.Fatal(err)
	}
	if live != nil && (got.Bytes > live.Bytes+live.Bytes/50 || live.Bytes > got.Bytes+got.Bytes/50) {
		p.t.Errorf("%d bytes are live, %d in the memory before", got.Bytes, live.Bytes)
	}
	return got
}

// labelled wants so many goroutines with a label.
func (p *target) labelled(want int) {
	p.t.Helper()
	groups, err := p.stats.Goroutines()
	if err != nil {
		p.t.Fatal(err)
	}
	n := 0
	for _, g := range groups {
		for _, l := range g.Labels {
			if l.Key == "route" {
				n += l.Count
			}
		}
	}
	if n != want {
		p.t.Errorf("%d goroutines carry the label, want %d", n, want)
	}
}

// sums wants the spans to sum to the runtime's own figures.
func (p *target) sums(rt *sample.Runtime) {
	p.t.Helper()
	sum := make(map[sample.RangeKind]sample.Bytes)
	for _, r := range p.ranges() {
		sum[r.Kind] += sample.Bytes(r.End - r.Start)
	}
	if got := sum[sample.RangeObjects] + sum[sample.RangeObjectsNew]; got != rt.HeapInUse {
		p.t.Errorf("spans with objects are %d bytes, HeapInuse is %d", got, rt.HeapInUse)
	}
}

// gcore has a debugger write the core of the held program.
func (p *target) gcore() string {
	p.t.Helper()
	prefix := filepath.Join(p.t.TempDir(), "core")
	if out, err := exec.Command("gcore", "-o", prefix, fmt.Sprint(p.pid)).CombinedOutput(); err != nil {
		p.t.Fatalf("gcore: %v: %s", err, out)
	}
	return fmt.Sprintf("%s.%d", prefix, p.pid)
}

// kernelWritesCores needs the kernel to put cores into the directory of the one
// that dies.
func kernelWritesCores() error {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil {
		return err
	}
	pid, err := os.ReadFile("/proc/sys/kernel/core_uses_pid")
	if err != nil {
		return err
	}
	if string(pattern) != "core\n" || string(pid) != "0\n" {
		return fmt.Errorf("needs kernel.core_pattern to be core, it is %s", pattern)
	}
	return nil
}

// crash lets the program die by SIGABRT, which GOTRACEBACK=crash passes on to
// the kernel once the runtime has printed its goroutines. It is gone then.
func (p *target) crash() string {
	p.t.Helper()
	limit := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(p.pid, unix.RLIMIT_CORE, &limit, nil); err != nil {
		p.t.Fatal(err)
	}
	if err := unix.Kill(p.pid, unix.SIGABRT); err != nil {
		p.t.Fatal(err)
	}
	if err := p.release(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.wait(); err != nil {
		p.t.Logf("the program: %v", err)
	}
	return filepath.Join(p.dir, "core")
}
