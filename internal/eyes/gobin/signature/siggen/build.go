package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// empty has what every program has; rich uses more of the runtime.
const (
	empty = `package main

func main() {}
`
	rich = `package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"runtime/trace"
	"time"
)

func main() {
	c := make(chan int)
	go func() { c <- 1 }()
	select {
	case <-c:
	case <-time.After(time.Second):
	}
	runtime.SetFinalizer(&struct{ x [100]int }{}, func(any) {})
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	debug.FreeOSMemory()
	debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	metrics.Read([]metrics.Sample{{Name: "/gc/heap/goal:bytes"}})
	trace.Start(os.Stderr)
	for _, name := range []string{"heap", "goroutine", "block", "mutex", "threadcreate"} {
		pprof.Lookup(name).WriteTo(os.Stdout, 0)
	}
}
`
)

// builds are the ways of building by which the runtime's code differs most.
var builds = []struct {
	name  string
	flags []string
}{
	{"exe", []string{"-buildmode=exe"}},
	{"pie", []string{"-buildmode=pie"}},
	{"debug", []string{"-gcflags=all=-N -l"}},
}

// build makes a program with the toolchain and gives the path of the executable.
func build(dir, program string, tc toolchain, arch string, flags []string) (string, error) {
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/signature\n\ngo 1.20\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644),
	); err != nil {
		return "", err
	}
	exe := filepath.Join(dir, "exe")
	cmd := exec.Command("go", append(append([]string{"build", "-trimpath", "-ldflags=-w", "-o", exe}, flags...), ".")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+tc.name(), "GOEXPERIMENT="+tc.experiment,
		"GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOAMD64=v1")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, strings.TrimSpace(string(msg)))
	}
	return exe, nil
}

// name is the version as Go's downloads have it: up to 1.20 the first release of
// a minor version had no patch.
func (tc toolchain) name() string {
	if tc.minor <= 20 && tc.patch == 0 {
		return fmt.Sprintf("go1.%d", tc.minor)
	}
	return tc.version()
}
