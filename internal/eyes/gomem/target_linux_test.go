package gomem_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
	"github.com/highwater-go/highwater/internal/eyes/gobin"
	"github.com/highwater-go/highwater/internal/eyes/goheap"
	"github.com/highwater-go/highwater/internal/eyes/gomem"
	"github.com/highwater-go/highwater/internal/eyes/gostats"
)

// build is one way to build the target program.
type build struct {
	toolchain string
	mode      string // exe, pie, cgo, c-shared, or one of variants
	stripped  bool
}

func (b build) String() string {
	if b.stripped {
		return b.toolchain + "-" + b.mode + "-stripped"
	}
	return b.toolchain + "-" + b.mode
}

// toolchains are the newest patch of every minor version.
var toolchains = []string{
	"go1.20.14", "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.7", "go1.26.8", "go1.27.2",
}

// variants are ways of building that move structs, code or variables.
var variants = map[string]hwtest.BuildOptions{
	"race":         {Race: true},
	"unoptimised":  {Gcflags: "all=-N -l"},
	"nogreenteagc": {Env: []string{"GOEXPERIMENT=nogreenteagc"}},
	"amd64v3":      {Env: []string{"GOAMD64=v3"}},
	"external":     {CGO: true, Ldflags: "-linkmode=external"},
	"nodwarf":      {Ldflags: "-w"},
}

// newest is the build of tests that do not depend on the layout.
var newest = build{toolchain: "go1.27.2", mode: "exe"}

// builds are the oldest version, the first with maps by groups, the newest, and one with
// cgo; in make matrix every version.
func builds() (all []build) {
	for _, v := range hwtest.Matrix(toolchains, slices.Index(toolchains, "go1.24.13")) {
		all = append(all, build{toolchain: v, mode: "exe"})
	}
	return append(all, build{toolchain: "go1.26.8", mode: "cgo"})
}

// matrix has every version, each in one way of linking; in make matrix in all.
func matrix() (all []build) {
	modes := []build{{mode: "exe"}, {mode: "pie"}, {mode: "exe", stripped: true}, {mode: "pie", stripped: true}}
	if !hwtest.InMatrix() {
		for i, v := range toolchains {
			all = append(all, build{v, modes[i%len(modes)].mode, modes[i%len(modes)].stripped})
		}
		return append(all, build{"go1.26.8", "cgo", false}, build{"go1.27.2", "c-shared", true})
	}
	all = builds()
	for _, v := range toolchains {
		all = append(all, build{v, "pie", false}, build{v, "exe", true}, build{v, "pie", true})
	}
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		all = append(all, build{"go1.26.8", name, false})
	}
	for _, b := range []build{{"go1.20.14", "", false}, {"go1.24.13", "", true}, {"go1.26.8", "", false}, {"go1.27.2", "", true}} {
		b.mode = "c-shared"
		all = append(all, b)
	}
	return all
}

// executable builds the target program once.
func executable(t testing.TB, b build) string {
	t.Helper()
	o, isVariant := variants[b.mode]
	if !isVariant {
		o = hwtest.BuildOptions{PIE: b.mode == "pie", CGO: b.mode == "cgo", Strip: b.stripped}
	}
	if b.mode == "c-shared" {
		o.Mode, o.Tags = b.mode, "library"
	}
	o.Toolchain = b.toolchain
	path := hwtest.Build(t, filepath.Join("testdata", "target"), o)
	if b.stripped {
		hwtest.Need(t, symbolsOf(path))
	}
	return path
}

// symbolsOf needs the runtime's variables of a stripped program to be found.
func symbolsOf(path string) func() error {
	return func() error {
		bin, err := gobin.Open(path)
		if err != nil {
			return err
		}
		defer bin.Close()
		return bin.Supported()
	}
}

// target is the running program.
type target struct {
	t       testing.TB
	pid     int
	ask     func(format string, args ...any) []string // has it obey, and gives the answer's lines
	mem     *os.File
	bin     *gobin.Binary
	bias    uint64
	dir     string       // its working directory
	wait    func() error // for its end; may be called again
	runtime *gomem.Runtime
	stats   *gostats.Stats
	heap    *goheap.Heap
}

// start runs the target program and attaches to it. It is killed with the test.
func start(t testing.TB, b build, env ...string) *target {
	t.Helper()
	p := launch(t, executable(t, b), env...)
	p.ask("gc")
	p.attach()
	return p
}

// attach waits until the runtime has started.
func (p *target) attach() {
	p.t.Helper()
	err := gomem.ErrNotReady
	for errors.Is(err, gomem.ErrNotReady) {
		p.runtime, err = gomem.Attach(p.mem, p.bin, p.bias)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.take(p.runtime)
}

// take has the target be read by what stands on a runtime, and wants every feature.
func (p *target) take(r *gomem.Runtime) {
	p.t.Helper()
	p.runtime, p.stats, p.heap = r, gostats.New(r), goheap.New(r)
	for _, f := range []gomem.Feature{gostats.FeatureCounters, gostats.FeatureMetrics, gostats.FeatureProfile, gomem.FeatureGoroutines} {
		if err := p.stats.Why(f); err != nil {
			p.t.Errorf("%s is refused: %v", f, err)
		}
	}
	if err := errors.Join(p.runtime.Why(gomem.FeatureRanges), p.heap.Why()); err != nil {
		p.t.Errorf("refused: %v", err)
	}
}

func launch(t testing.TB, path string, env ...string) *target {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	bin, err := gobin.Open(path)
	must(err)
	t.Cleanup(func() { bin.Close() })
	cmd := exec.Command(path)
	if bin.Settings["-buildmode"] == "c-shared" {
		cmd = exec.Command(hwtest.LibraryHost(t), path)
	}
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	for _, v := range env {
		if v == "GOTRACEBACK=crash" {
			cmd.Stderr = nil // where it prints its goroutines
		}
	}
	started := hwtest.StartPiped(t, cmd)
	p := &target{t: t, pid: started.PID, ask: started.Ask, wait: started.Wait, bin: bin, dir: cmd.Dir}
	p.mem, err = os.Open(fmt.Sprintf("/proc/%d/mem", p.pid))
	must(err)
	t.Cleanup(func() { p.mem.Close() })
	p.bias = p.findBias(path)
	return p
}

// mapping is a line of /proc/PID/maps, with what smaps says of it.
type mapping struct {
	start, end, offset uint64
	path               string
	anonymous          uint64 // bytes
}

func (p *target) mappings() []mapping {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", p.pid))
	if err != nil {
		p.t.Fatal(err)
	}
	var all []mapping
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if kb, ok := strings.CutPrefix(line, "Anonymous:"); ok {
			n, _ := strconv.ParseUint(strings.Fields(kb)[0], 10, 64)
			all[len(all)-1].anonymous = n << 10
		}
		if len(f) < 5 || !strings.Contains(f[0], "-") {
			continue
		}
		var m mapping
		fmt.Sscanf(f[0], "%x-%x", &m.start, &m.end)
		fmt.Sscanf(f[2], "%x", &m.offset)
		if len(f) > 5 {
			m.path = f[5]
		}
		all = append(all, m)
	}
	return all
}

// findBias waits for the executable to be mapped: the kernel lets the parent go on
// a little earlier.
func (p *target) findBias(path string) uint64 {
	real, _ := filepath.EvalSymlinks(path)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		start, mapped := uint64(0), false
		for _, m := range p.mappings() {
			if m.path == real && m.offset == 0 {
				start = m.start
			}
			mapped = mapped || m.path == "[vdso]" // comes behind all of the executable (fs/binfmt_elf.c, load_elf_binary)
		}
		if start != 0 && mapped {
			return start - p.bin.Base()
		}
	}
	p.t.Fatal("no mapping of the executable")
	return 0
}

// hold stops the program until the test ends.
func (p *target) hold() error {
	if err := syscall.Kill(p.pid, syscall.SIGSTOP); err != nil {
		return err
	}
	var status syscall.WaitStatus
	_, err := syscall.Wait4(p.pid, &status, syscall.WUNTRACED, nil)
	return err
}

// release lets a held program go on.
func (p *target) release() error { return syscall.Kill(p.pid, syscall.SIGCONT) }
