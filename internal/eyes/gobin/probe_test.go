package gobin

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/highwater-go/highwater/internal/aside/hwtest"
)

// probe is one build of testdata/probe.
type probe struct {
	toolchain string
	flags     string // of go build
	ldflags   string
	cgo       bool
	env       string // "GOAMD64=v3"
}

func (p probe) String() string {
	s := p.toolchain
	for _, w := range strings.Fields(p.flags + " " + p.ldflags + " " + p.env) {
		s += " " + strings.TrimPrefix(w, "-")
	}
	if p.cgo {
		s += " cgo"
	}
	return s
}

// probes are every minor version as executable and PIE, and the ways of linking
// that move things.
var probes = []probe{
	{toolchain: "go1.20.14"},
	{toolchain: "go1.20.14", flags: "-buildmode=pie"},
	{toolchain: "go1.21.13"},
	{toolchain: "go1.22.12", flags: "-buildmode=pie"},
	{toolchain: "go1.23.12"},
	{toolchain: "go1.24.13"},
	{toolchain: "go1.24.13", flags: "-buildmode=pie"},
	{toolchain: "go1.25.7"},
	{toolchain: "go1.25.7", flags: "-buildmode=pie"},
	{toolchain: "go1.26.8"},
	{toolchain: "go1.26.8", flags: "-buildmode=pie"},
	{toolchain: "go1.26.8", ldflags: "-w"},
	{toolchain: "go1.26.8", cgo: true},
	{toolchain: "go1.26.8", cgo: true, ldflags: "-linkmode=external"},
	{toolchain: "go1.27.2"},
	{toolchain: "go1.27.2", flags: "-buildmode=pie"},
	{toolchain: "go1.27.2", flags: "-buildmode=pie", cgo: true, ldflags: "-linkmode=external"},
}

// eachProbe runs the test for every build that this machine can make.
func eachProbe(t *testing.T, test func(t *testing.T, exe string, b *Binary)) {
	for _, p := range hwtest.Matrix(probes, 3, 6, 11, 13) { // go1.22 PIE, go1.24 PIE, without DWARF, linked by C's linker
		t.Run(p.String(), func(t *testing.T) {
			exe := p.build(t)
			test(t, exe, open(t, exe))
		})
	}
}

func open(t testing.TB, exe string) *Binary {
	t.Helper()
	b, err := Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

var built struct {
	sync.Mutex
	dir string
	exe map[probe]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// build makes the probe, once in a run of the tests.
func (p probe) build(t testing.TB) string {
	t.Helper()
	hwtest.Slow(t, "builds a program")
	built.Lock()
	defer built.Unlock()
	if exe := built.exe[p]; exe != "" {
		return exe
	}
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "gobin")
		if err != nil {
			t.Fatal(err)
		}
		built.dir, built.exe = dir, map[probe]string{}
	}
	needToolchain(t, p.toolchain)
	exe := filepath.Join(built.dir, strings.NewReplacer(" ", "-", "=", "-", "/", "-").Replace(p.String()))
	ldflags := p.ldflags
	if minor, _, _ := parseVersion(p.toolchain); minor >= 23 {
		ldflags += " -checklinkname=0"
	}
	cmd := exec.Command("go", "build", "-ldflags="+ldflags, "-o", exe)
	cmd.Args = append(cmd.Args, strings.Fields(p.flags)...)
	cmd.Args = append(cmd.Args, ".")
	cmd.Dir = "testdata/probe"
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+p.toolchain, "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "CGO_ENABLED=0")
	if p.cgo {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	if p.env != "" {
		cmd.Env = append(cmd.Env, p.env)
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	built.exe[p] = exe
	return exe
}

// needToolchain skips the test where cmd/go cannot get another toolchain than
// its own: without a network.
func needToolchain(t testing.TB, version string) {
	t.Helper()
	cmd := exec.Command("go", "version")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+version)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("cannot get %s: %s", version, msg)
	}
}

// ask runs the probe and gives what it prints, line by line, split at tabs; the
// first line's value is where its file is mapped.
func ask(t *testing.T, exe string, args ...string) (start uint64, lines [][]string) {
	t.Helper()
	cmd := exec.Command(exe, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		lines = append(lines, strings.Split(sc.Text(), "\t"))
	}
	io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(lines) == 0 || lines[0][0] != "start" {
		t.Fatal("the probe did not say where it is mapped")
	}
	return hexNumber(t, lines[0][1]), lines[1:]
}

func hexNumber(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
